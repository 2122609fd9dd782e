// Where a DIE is, in a form that can be written to a file and found again.
#pragma once

#include <cstdint>
#include <optional>

#include "symbols/dwarf_index.h"

namespace cacheline::types {

struct DieReference {
  enum class Section : uint8_t {
    info,       ///< .debug_info
    types,      ///< .debug_types of DWARF 4
    splitInfo,  ///< the same in a .dwo file
    splitTypes,
    supplement  ///< .debug_info of the file that dwz made
  };
  Section section = Section::info;
  uint64_t skeleton = 0;  ///< of a .dwo file: offset of the skeleton unit's DIE
  uint64_t offset = 0;    ///< in the section
};

/// The DIE; nullopt where there is none at that place any more.
std::optional<Dwarf_Die> dieAt(symbols::DwarfIndex& index, const DieReference& reference);

}  // namespace cacheline::types
