// The sizes of attribute forms, and how to get over a DIE with them.
#include "symbols/die_scan.h"

#include <libelf.h>

#include <bit>
#include <cstring>

#include "symbols/raw_sections.h"

namespace cacheline::symbols {

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
  Dwarf_Off table = 0;
  Dwarf_Die die{};
  // A package (.dwp) has one section for the tables of all units: dwarf_next_unit() says where the table is
  // in the unit's part of it.
  if (dwarf_cu_die(cu_, &die, &sizes_.version, &table, &sizes_.address, &sizes_.offset, nullptr, nullptr) ==
          nullptr ||
      dwarf_next_unit(dwarf, rootOffset_ - rootInUnit_, &next, &headerSize, nullptr, nullptr, nullptr,
                      nullptr, inDebugTypes ? &signature : nullptr,
                      inDebugTypes ? &typeOffset : nullptr) != 0 ||
      next <= rootOffset_)
    return;
  size_t identSize = 0;
  const char* ident = elf_getident(dwarf_getelf(dwarf), &identSize);
  if (ident == nullptr || identSize < EI_NIDENT) return;
  format_.swapped = (ident[EI_DATA] == ELFDATA2MSB) != (std::endian::native == std::endian::big);
  const Bytes abbreviations = abbreviationSection(dwarf_getelf(dwarf));
  abbreviations_ = {abbreviations.subspan(std::min<size_t>(table, abbreviations.size())), sizes_};
  begin_ = static_cast<const uint8_t*>(root.addr);
  size_ = std::min<uint64_t>(next - rootOffset_, roomBehind(dwarf_getelf(dwarf), begin_));
}

uint64_t DieScan::behindForm(uint64_t at, uint32_t form) const {
  uint64_t length = 0;
  if (const uint32_t bytes = sizes_.of(form); bytes != FormSizes::kVaries) {
    length = bytes;
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
        return uleb(at, length) ? at : kNowhere;
      case DW_FORM_string: {
        const void* end = std::memchr(begin_ + at, 0, size_ - at);
        if (end == nullptr) return kNowhere;
        return static_cast<uint64_t>(static_cast<const uint8_t*>(end) - begin_) + 1;
      }
      case DW_FORM_block:
      case DW_FORM_exprloc:
        if (!uleb(at, length)) return kNowhere;
        break;
      case DW_FORM_block1:
        if (size_ - at < 1) return kNowhere;
        length = begin_[at++];
        break;
      case DW_FORM_block2:
        if (size_ - at < 2) return kNowhere;
        length = format_.word<uint16_t>(begin_ + at);
        at += 2;
        break;
      case DW_FORM_block4:
        if (size_ - at < 4) return kNowhere;
        length = format_.word<uint32_t>(begin_ + at);
        at += 4;
        break;
      case DW_FORM_indirect: {
        uint64_t actual = 0;
        // An indirect form that names itself again would only hide a loop.
        if (!uleb(at, actual) || actual == DW_FORM_indirect || actual > UINT32_MAX) return kNowhere;
        return behindForm(at, static_cast<uint32_t>(actual));
      }
      default:
        return kNowhere;
    }
  }
  return length <= size_ - at ? at + length : kNowhere;
}

bool DieScan::readValue(uint32_t form, const uint8_t* bytes, uint64_t size, uint64_t& value) const {
  switch (form) {
    case DW_FORM_data2:
    case DW_FORM_data4:
    case DW_FORM_data8:
    case DW_FORM_ref4:
    case DW_FORM_addr:
    case DW_FORM_strp:
    case DW_FORM_line_strp:
      if (size != 2 && size != 4 && size != 8) return false;
      value = size == 2   ? format_.word<uint16_t>(bytes)
              : size == 4 ? format_.word<uint32_t>(bytes)
                          : format_.word<uint64_t>(bytes);
      return true;
    case DW_FORM_udata: {
      auto at = static_cast<uint64_t>(bytes - begin_);
      return uleb(at, value);
    }
    default:
      return false;
  }
}

std::optional<DieScan::Code> DieScan::codeOf(const Here& here) const {
  Code code;
  if (!here.abbreviation.code) return code;
  bool isLength = false, hasOwnName = false;
  bool usual = true;
  const bool whole = forEachAttribute(here, [&](const Raw& attribute) {
    uint64_t* to = nullptr;
    switch (attribute.name) {
      case DW_AT_ranges:
        code.listed = true;
        break;
      case DW_AT_linkage_name:
        hasOwnName = true;
        break;
      case DW_AT_abstract_origin:
        if (const uint64_t origin = referenceIn(attribute)) code.origin = rootOffset_ + origin;
        break;
      case DW_AT_low_pc:
        usual &= attribute.form == DW_FORM_addr;
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
    if (to != nullptr) usual &= readValue(attribute, *to);
  });
  if (!whole || !usual) return std::nullopt;
  if (isLength) code.high += code.low;
  if (hasOwnName) code.origin = 0;
  return code;
}

uint64_t DieScan::rareReferenceAt(uint64_t at, uint32_t form) const {
  const uint64_t room = size_ - at;
  uint64_t inUnit = 0;
  if (form == DW_FORM_ref2 && room >= 2) return format_.word<uint16_t>(begin_ + at);
  if (form == DW_FORM_ref1 && room >= 1) return begin_[at];
  if (form == DW_FORM_ref8 && room >= 8) return format_.word<uint64_t>(begin_ + at);
  return form == DW_FORM_ref_udata && uleb(at, inUnit) ? inUnit : 0;
}

}  // namespace cacheline::symbols
