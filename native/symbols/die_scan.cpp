// The sizes of attribute forms, and how to get over a DIE with them.
#include "symbols/die_scan.h"

#include <libelf.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace cacheline::symbols {

namespace {

/// A table by code must not grow with codes that no compiler writes.
constexpr uint64_t kLargestTable = 1 << 12, kHighestCode = 1 << 20;

}  // namespace

DieScan::DieScan(Dwarf_Die root, uint64_t* mostBytes) : mostBytes_(mostBytes), cu_(root.cu) {
  if (root.cu == nullptr) return;
  Dwarf* dwarf = dwarf_cu_getdwarf(root.cu);
  rootOffset_ = dwarf_dieoffset(&root);
  rootInUnit_ = dwarf_cuoffset(&root);
  if (rootOffset_ == static_cast<Dwarf_Off>(-1) || rootInUnit_ > rootOffset_) return;
  Dwarf_Off next = 0;
  size_t headerSize = 0;
  // The type units of DWARF 4 are in a section of their own: libdw looks there where a signature is asked
  // for.
  Dwarf_Half version = 0;
  uint8_t kind = 0;
  if (dwarf_cu_info(cu_, &version, &kind, nullptr, nullptr, nullptr, nullptr, nullptr) != 0) return;
  const bool inDebugTypes = version < 5 && (kind == DW_UT_type || kind == DW_UT_split_type);
  uint64_t signature = 0;
  Dwarf_Off typeOffset = 0;
  if (dwarf_next_unit(dwarf, rootOffset_ - rootInUnit_, &next, &headerSize, &version_, nullptr, &addressSize_,
                      &offsetSize_, inDebugTypes ? &signature : nullptr,
                      inDebugTypes ? &typeOffset : nullptr) != 0 ||
      next <= rootOffset_)
    return;
  size_t identSize = 0;
  const char* ident = elf_getident(dwarf_getelf(dwarf), &identSize);
  if (ident == nullptr || identSize < EI_NIDENT) return;
  format_.swapped = (ident[EI_DATA] == ELFDATA2MSB) != (std::endian::native == std::endian::big);
  begin_ = static_cast<const uint8_t*>(root.addr);
  size_ = next - rootOffset_;
}

void DieScan::Abbreviation::add(const Attribute& attribute) {
  attributes.push_back(attribute);
  code |= attribute.name == DW_AT_low_pc || attribute.name == DW_AT_ranges;
  if (strides.empty() || strides.back().form != 0) strides.emplace_back();
  Stride& last = strides.back();
  last.sibling = attribute.name == DW_AT_sibling;
  if (attribute.size && !last.sibling)
    last.bytes += *attribute.size;
  else
    last.form = attribute.form;
}

const DieScan::Abbreviation* DieScan::abbreviation(uint64_t code, uint64_t at) {
  if (code > kHighestCode) return nullptr;
  if (code < kLargestTable && abbreviations_.size() <= code) abbreviations_.resize(code + 1);
  Abbreviation& entry = code < kLargestTable ? abbreviations_[code] : highAbbreviations_[code];
  if (entry.tag != 0) return &entry;
  Dwarf_Die die = dieAt(at);
  const int tag = dwarf_tag(&die);
  if (tag == DW_TAG_invalid) return nullptr;
  struct Forms {
    const DieScan& scan;
    Abbreviation& entry;
  } forms{*this, entry};
  const auto add = [](Dwarf_Attribute* attribute, void* argument) -> int {
    auto& [scan, to] = *static_cast<Forms*>(argument);
    const unsigned name = dwarf_whatattr(attribute), form = dwarf_whatform(attribute);
    Dwarf_Word constant = 0;
    if (form == DW_FORM_implicit_const) dwarf_formudata(attribute, &constant);
    to.add({name, form, constant, scan.fixedSize(form)});
    return DWARF_CB_OK;
  };
  if (dwarf_getattrs(&die, add, &forms, 0) != 1) {
    entry = {};
    return nullptr;
  }
  entry.tag = tag;
  entry.children = dwarf_haschildren(&die) == 1;
  return &entry;
}

Dwarf_Die DieScan::dieAt(uint64_t at) const {
  Dwarf_Die die{};
  die.addr = const_cast<uint8_t*>(begin_ + at);
  die.cu = cu_;
  return die;
}

std::optional<uint64_t> DieScan::fixedSize(uint32_t form) const {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
      return 0;
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_ref1:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
      return 8;
    case DW_FORM_data16:
      return 16;
    case DW_FORM_addr:
      return addressSize_;
    case DW_FORM_ref_addr:
      return version_ <= 2 ? addressSize_ : offsetSize_;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return offsetSize_;
    default:
      return std::nullopt;
  }
}

bool DieScan::skip(uint64_t& at, const Attribute& attribute) const {
  if (!attribute.size) return skipForm(at, attribute.form);
  if (*attribute.size > size_ - at) return false;
  at += *attribute.size;
  return true;
}

bool DieScan::skipForm(uint64_t& at, uint32_t form) const {
  uint64_t length = 0;
  if (const auto size = fixedSize(form)) {
    length = *size;
  } else {
    switch (form) {
      case DW_FORM_udata:
      case DW_FORM_sdata:
      case DW_FORM_ref_udata:
      case DW_FORM_strx:
      case DW_FORM_addrx:
      case DW_FORM_loclistx:
      case DW_FORM_rnglistx:
      case DW_FORM_GNU_addr_index:
      case DW_FORM_GNU_str_index:
        return uleb(at, length);
      case DW_FORM_string: {
        const void* end = std::memchr(begin_ + at, 0, size_ - at);
        if (end == nullptr) return false;
        at = static_cast<uint64_t>(static_cast<const uint8_t*>(end) - begin_) + 1;
        return true;
      }
      case DW_FORM_block:
      case DW_FORM_exprloc:
        if (!uleb(at, length)) return false;
        break;
      case DW_FORM_block1:
        if (size_ - at < 1) return false;
        length = begin_[at++];
        break;
      case DW_FORM_block2:
        if (size_ - at < 2) return false;
        length = format_.word<uint16_t>(begin_ + at);
        at += 2;
        break;
      case DW_FORM_block4:
        if (size_ - at < 4) return false;
        length = format_.word<uint32_t>(begin_ + at);
        at += 4;
        break;
      case DW_FORM_indirect: {
        uint64_t actual = 0;
        // An indirect form that names itself again would only hide a loop.
        return uleb(at, actual) && actual != DW_FORM_indirect && actual <= UINT32_MAX &&
               skipForm(at, static_cast<uint32_t>(actual));
      }
      default:
        return false;
    }
  }
  if (length > size_ - at) return false;
  at += length;
  return true;
}

std::optional<uint64_t> DieScan::constantAt(uint64_t at, const Attribute& attribute) const {
  const uint64_t room = size_ - at;
  uint64_t value = 0;
  switch (attribute.form) {
    case DW_FORM_implicit_const:
      return attribute.constant;
    case DW_FORM_data1:
      if (room >= 1) return begin_[at];
      break;
    case DW_FORM_data2:
      if (room >= 2) return format_.word<uint16_t>(begin_ + at);
      break;
    case DW_FORM_data4:
      if (room >= 4) return format_.word<uint32_t>(begin_ + at);
      break;
    case DW_FORM_data8:
      if (room >= 8) return format_.word<uint64_t>(begin_ + at);
      break;
    case DW_FORM_addr:
      if (addressSize_ == 8 && room >= 8) return format_.word<uint64_t>(begin_ + at);
      if (addressSize_ == 4 && room >= 4) return format_.word<uint32_t>(begin_ + at);
      break;
    case DW_FORM_udata:
      if (uleb(at, value)) return value;
      break;
    default:
      break;
  }
  return std::nullopt;
}

std::optional<uint64_t> DieScan::valueOf(const Raw& attribute) const {
  const auto at = static_cast<uint64_t>(attribute.bytes - begin_);
  switch (attribute.form) {
    case DW_FORM_strp:
    case DW_FORM_line_strp:
      if (offsetSize_ == 8) return format_.word<uint64_t>(attribute.bytes);
      return format_.word<uint32_t>(attribute.bytes);
    case DW_FORM_ref4:
      return format_.word<uint32_t>(attribute.bytes);
    default:
      return constantAt(at, {attribute.name, attribute.form, attribute.constant, std::nullopt});
  }
}

std::optional<DieScan::Code> DieScan::codeOf(const Here& here) const {
  Code code;
  if (!known(here.abbreviation).code) return code;
  bool isLength = false, hasOwnName = false;
  uint64_t at = here.attributes;
  for (const Attribute& attribute : known(here.abbreviation).attributes) {
    uint64_t* to = nullptr;
    switch (attribute.name) {
      case DW_AT_ranges:
        code.listed = true;
        break;
      case DW_AT_linkage_name:
        hasOwnName = true;
        break;
      case DW_AT_abstract_origin:
        if (const uint64_t origin = referenceAt(at, attribute.form)) code.origin = rootOffset_ + origin;
        break;
      case DW_AT_low_pc:
        if (attribute.form != DW_FORM_addr) return std::nullopt;
        to = &code.low;
        break;
      case DW_AT_high_pc:
        isLength = attribute.form != DW_FORM_addr;
        to = &code.high;
        break;
      case DW_AT_call_file:
        to = &code.callFile;
        break;
      case DW_AT_call_line:
        to = &code.callLine;
        break;
      case DW_AT_call_column:
        to = &code.callColumn;
        break;
      default:
        break;
    }
    if (to != nullptr) {
      const auto value = constantAt(at, attribute);
      if (!value) return std::nullopt;
      *to = *value;
    }
    if (!skip(at, attribute)) return std::nullopt;
  }
  if (isLength) code.high += code.low;
  if (hasOwnName) code.origin = 0;
  return code;
}

std::optional<Dwarf_Die> DieScan::targetOf(const Raw& attribute) const {
  const uint64_t at = referenceAt(static_cast<uint64_t>(attribute.bytes - begin_), attribute.form);
  return at != 0 ? std::optional(dieAt(at)) : std::nullopt;
}

uint64_t DieScan::referenceAt(uint64_t at, uint32_t form) const {
  uint64_t inUnit = 0;
  const uint64_t room = size_ - at;
  if (form == DW_FORM_ref4 && room >= 4)
    inUnit = format_.word<uint32_t>(begin_ + at);
  else if (form == DW_FORM_ref2 && room >= 2)
    inUnit = format_.word<uint16_t>(begin_ + at);
  else if (form == DW_FORM_ref1 && room >= 1)
    inUnit = begin_[at];
  else if (form == DW_FORM_ref8 && room >= 8)
    inUnit = format_.word<uint64_t>(begin_ + at);
  else if (form != DW_FORM_ref_udata || !uleb(at, inUnit))
    return 0;
  return inUnit > rootInUnit_ && inUnit - rootInUnit_ < size_ ? inUnit - rootInUnit_ : 0;
}

bool DieScan::skip(uint64_t at, Skipped& skipped) {
  const uint64_t start = at;
  skipped = {};
  if (mostBytes_ != nullptr && *mostBytes_ == 0) return false;
  if (begin_ == nullptr || at >= size_ || !uleb(at, skipped.code)) return false;
  skipped.attributes = skipped.next = at;
  if (skipped.code == 0) return true;
  skipped.abbreviation = abbreviation(skipped.code, start);
  if (skipped.abbreviation == nullptr) return false;
  for (const Stride& stride : skipped.abbreviation->strides) {
    if (stride.bytes > size_ - at) return false;
    at += stride.bytes;
    if (stride.form == 0) continue;
    if (stride.sibling) skipped.sibling = referenceAt(at, stride.form);
    if (!skipForm(at, stride.form)) return false;
  }
  skipped.next = at;
  if (mostBytes_ != nullptr) *mostBytes_ -= std::min(at - start, *mostBytes_);
  return true;
}

}  // namespace cacheline::symbols
