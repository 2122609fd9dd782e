// The usual location lists and expressions of a unit, read in place. libdw keeps each expression that it was
// ever asked for in a tree, which costs most of what a function's variables cost.
#pragma once

#include <elfutils/libdw.h>

#include <optional>
#include <span>
#include <vector>

#include "inference/location.h"
#include "symbols/die_scan.h"

namespace cacheline::inference {

/// An expression in place (DWARF 5, 2.5 and 7.7.1), 64-bit addresses. Nullopt where libdw has to be asked:
/// references to other DIEs and sections, jumps, what is cut off.
std::optional<Expression> readExpression(std::span<const uint8_t> bytes, const symbols::ElfFormat& format);

class LocationLists {
 public:
  /// `die`: any DIE of the unit.
  explicit LocationLists(Dwarf_Die die);

  /// What locationRanges() gives for a DIE with this DW_AT_location; nullopt where libdw has to be asked.
  std::optional<std::vector<LocationRange>> read(const symbols::DieScan::Raw& location) const;

 private:
  std::optional<std::vector<LocationRange>> listAt(uint64_t offset) const;

  symbols::ElfFormat format_;
  uint8_t offsetSize_ = 0;          ///< 0: libdw reads everything
  uint64_t base_ = 0;               ///< of the unit, an ELF address
  std::span<const uint8_t> lists_;  ///< .debug_loclists; empty: libdw reads them
};

}  // namespace cacheline::inference
