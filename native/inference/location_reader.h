// DWARF location expressions and lists as the file has them, read into our own.
#pragma once

#include <elfutils/libdw.h>

#include <optional>
#include <span>
#include <vector>

#include "inference/location.h"
#include "symbols/die_scan.h"
#include "symbols/raw_sections.h"

namespace cacheline::inference {

/// `operations` as libdw gives them for `attribute` (null: of call frame information). Nested expressions are
/// taken over a few levels deep, those of other variables as they are at `address`, an ELF address; what lies
/// deeper evaluates to unknown.
Expression compileExpression(Dwarf_Attribute* attribute, const Dwarf_Op* operations, size_t count,
                             uint64_t address);

/// Go writes expressions as plain blocks, which libdw refuses in DWARF 4 and later. A short block and an
/// expression are the same bytes, so `attribute` is renamed to one.
void acceptPlainBlock(Dwarf_Attribute& attribute);

/// All of DW_AT_location of this DIE itself; empty: optimised out, or a declaration.
std::vector<LocationRange> locationRanges(Dwarf_Die& die);

/// An expression in place (DWARF 5, 2.5 and 7.7.1), 64-bit addresses. Nullopt where libdw has to be asked:
/// references to other DIEs and sections, jumps, what is cut off.
std::optional<Expression> readExpression(std::span<const uint8_t> bytes, const symbols::ElfFormat& format);

/// The usual location lists and expressions of a unit, read in place. libdw keeps each expression that it was
/// ever asked for in a tree, which costs most of what a function's variables cost.
class LocationLists {
 public:
  /// `die`: any DIE of the unit.
  explicit LocationLists(Dwarf_Die die);

  /// What locationRanges() gives for a DIE with this DW_AT_location; nullopt where libdw has to be asked.
  std::optional<std::vector<LocationRange>> read(const symbols::DieScan::Raw& location) const;

 private:
  std::optional<std::vector<LocationRange>> listAt(uint64_t offset) const;

  symbols::UnitLists unit_;
};

}  // namespace cacheline::inference
