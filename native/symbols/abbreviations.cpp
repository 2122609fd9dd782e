// One entry after the other, each as its attributes and as the steps that lead over them.
#include "symbols/abbreviations.h"

#include "symbols/raw_sections.h"

namespace cacheline::symbols {

uint32_t FormSizes::of(uint64_t form) const {
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
      return address;
    case DW_FORM_ref_addr:
      return version <= 2 ? address : offset;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_sec_offset:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return offset;
    default:
      return kVaries;
  }
}

const Abbreviations::Entry* Abbreviations::rare(uint64_t code) {
  Entry* entry = find(code);
  return entry != nullptr && (entry->tag != 0 || read(*entry)) ? entry : nullptr;
}

Abbreviations::Entry* Abbreviations::find(uint64_t code) {
  for (;;) {
    if (code - 1 < numbered_.size()) return &numbered_[code - 1];
    if (const auto other = others_.find(code); other != others_.end()) return &other->second;
    if (!noteNext()) return nullptr;
  }
}

bool Abbreviations::noteNext() {
  size_t at = noted_;
  noted_ = table_.size();
  const auto number = [&] {
    if (at < table_.size() && table_[at] < 0x80) return uint64_t{table_[at++]};
    uint64_t value = 0;
    for (unsigned shift = 0; at < table_.size(); shift += 7) {
      const uint8_t byte = table_[at++];
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  };
  const uint64_t code = number();
  if (code == 0) return false;
  Entry entry;
  entry.place = at;
  number();
  at++;
  for (;;) {
    const uint64_t name = number(), form = number();
    if (name == 0 && form == 0) break;
    if (at >= table_.size()) return false;
    if (form == DW_FORM_implicit_const) number();
  }
  noted_ = at;
  if (code == numbered_.size() + 1 && !others_.contains(code))
    numbered_.push_back(entry);
  else
    others_.try_emplace(code, entry);
  return true;
}

bool Abbreviations::read(Entry& entry) {
  static const ElfFormat kNoWords;  // nothing here depends on the order of bytes
  Cursor cursor{table_.subspan(entry.place), kNoWords};
  const auto attributes = static_cast<uint32_t>(attributes_.size());
  entry.attributes = {attributes, attributes};
  const auto strides = static_cast<uint32_t>(strides_.size());
  entry.strides = {strides, strides};
  entry.tag = static_cast<int>(cursor.uleb());
  entry.children = cursor.byte() != 0;
  while (cursor.good) {
    const auto name = static_cast<uint32_t>(cursor.uleb()), form = static_cast<uint32_t>(cursor.uleb());
    if (name == 0 && form == 0) break;
    const int64_t constant = form == DW_FORM_implicit_const ? cursor.sleb() : 0;
    add({name, form, sizes_.of(form), static_cast<uint64_t>(constant)}, entry);
  }
  if (cursor.good && entry.tag != 0) return true;
  entry = {};
  entry.place = table_.size();
  attributes_.resize(attributes);
  strides_.resize(strides);
  return false;
}

void Abbreviations::add(const Attribute& attribute, Entry& entry) {
  attributes_.push_back(attribute);
  entry.attributes.end++;
  entry.code |= attribute.name == DW_AT_low_pc || attribute.name == DW_AT_ranges;
  if (entry.strides.begin == entry.strides.end || strides_.back().form != 0) {
    strides_.emplace_back();
    entry.strides.end++;
  }
  Stride& last = strides_.back();
  last.sibling = attribute.name == DW_AT_sibling;
  if (attribute.bytes != FormSizes::kVaries && !last.sibling)
    last.bytes += attribute.bytes;
  else
    last.form = attribute.form;
}

}  // namespace cacheline::symbols
