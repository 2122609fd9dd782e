// The attributes that the index needs, read where they are.
#include "types/raw_entry.h"

#include <dwarf.h>

#include "symbols/die.h"
#include "types/type_reader.h"

namespace cacheline::types {

using symbols::DieScan;

bool isAggregateTag(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
         tag == DW_TAG_interface_type;
}

RawReader::RawReader(const DieScan& scan, Dwarf_Die root)
    : scan_(scan),
      file_(dwarf_cu_getdwarf(root.cu)),
      unitBegin_(static_cast<const uint8_t*>(root.addr) - dwarf_cuoffset(&root)) {}

RawEntry RawReader::read(const DieScan::Here& here) const {
  RawEntry found;
  found.die = here.die;
  found.offset = here.offset;
  found.kind = kindOf(here.tag).value_or(Kind::structure);
  scan_.forEachAttribute(here, [&](const DieScan::Raw& raw) {
    switch (raw.name) {
      case DW_AT_name:
        found.name = text(here, raw);
        break;
      case DW_AT_declaration:
        found.declared = true;
        break;
      case DW_AT_byte_size:
        found.size = scan_.valueOf(raw).value_or(0);
        found.hash = mix(found.hash, found.size);
        break;
      case DW_AT_alignment:
        found.hash = mix(mix(found.hash, raw.name), scan_.valueOf(raw).value_or(0));
        break;
      case DW_AT_decl_file:
        found.file = scan_.valueOf(raw).value_or(0);
        break;
      case DW_AT_decl_line:
        found.line = scan_.valueOf(raw).value_or(0);
        break;
      case DW_AT_specification:
        found.specified = true;
        found.target = targetOf(here, raw);
        break;
      case DW_AT_signature:
        found.declared = true;  // gcc does not say so
        [[fallthrough]];
      case DW_AT_type:
        found.target = targetOf(here, raw);
        break;
      default:
        break;
    }
  });
  return found;
}

/// Compilers write DW_FORM_ref4; dwz all forms, also into other units.
const void* RawReader::targetOf(const DieScan::Here& here, const DieScan::Raw& raw) const {
  if (raw.form == DW_FORM_ref4) return unitBegin_ + scan_.valueOf(raw).value_or(0);
  Dwarf_Die die = here.die;
  const auto target = symbols::referenceAttribute(die, raw.name);
  return target ? target->addr : nullptr;
}

std::optional<Dwarf_Die> RawReader::typeOf(const DieScan::Here& here) const {
  std::optional<Dwarf_Die> type;
  scan_.forEachAttribute(here, [&](const DieScan::Raw& raw) {
    if (raw.name != DW_AT_type) return;
    type = scan_.targetOf(raw);
    Dwarf_Die die = here.die;
    if (!type) type = symbols::referenceAttribute(die, raw.name);
  });
  return type;
}

std::optional<uint64_t> RawReader::hashMember(const DieScan::Here& here, uint64_t hash) const {
  bool isStatic = false;
  hash = mix(hash, static_cast<uint64_t>(here.tag));
  scan_.forEachAttribute(here, [&](const DieScan::Raw& raw) {
    switch (raw.name) {
      case DW_AT_name:
        hash = mix(hash, text(here, raw));
        break;
      case DW_AT_data_member_location:
      case DW_AT_byte_size:
      case DW_AT_bit_size:
      case DW_AT_bit_offset:
      case DW_AT_data_bit_offset:
      case DW_AT_alignment:
      case DW_AT_decl_line:
        hash = mix(hash, raw.name);
        if (const auto value = scan_.valueOf(raw))
          hash = mix(hash, *value);
        else
          hash = mix(hash, std::string_view(reinterpret_cast<const char*>(raw.bytes), raw.size));
        break;
      case DW_AT_declaration:
        isStatic = true;
        break;
      default:
        break;
    }
  });
  return isStatic ? std::nullopt : std::optional(hash);
}

std::optional<std::string_view> RawReader::scopeName(const DieScan::Here& here) const {
  bool declared = false;
  std::string_view name;
  scan_.forEachAttribute(here, [&](const DieScan::Raw& raw) {
    declared |= raw.name == DW_AT_declaration;
    if (raw.name == DW_AT_linkage_name || (raw.name == DW_AT_name && name.empty())) name = text(here, raw);
  });
  return declared ? std::nullopt : std::optional(name);
}

std::string_view RawReader::text(const DieScan::Here& here, const DieScan::Raw& raw) const {
  if (raw.form == DW_FORM_string) return {reinterpret_cast<const char*>(raw.bytes), raw.size - 1};
  if (raw.form == DW_FORM_strp) {
    size_t length = 0;
    const char* found = dwarf_getstring(file_, scan_.valueOf(raw).value_or(UINT64_MAX), &length);
    return found != nullptr ? std::string_view(found, length) : std::string_view();
  }
  Dwarf_Die die = here.die;
  const char* found = symbols::stringAttribute(die, raw.name);
  return found != nullptr ? std::string_view(found) : std::string_view();
}

}  // namespace cacheline::types
