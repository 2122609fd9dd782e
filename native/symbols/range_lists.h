// Lists of address ranges, read in place. libdw looks the unit and its attributes up again for every range;
// most inlined calls have a list.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "symbols/die_scan.h"
#include "symbols/raw_sections.h"

namespace cacheline::symbols {

/// Those of one unit. Only DWARF 5 of 64-bit files.
class RangeLists {
 public:
  /// `die`: any of the unit.
  explicit RangeLists(Dwarf_Die die);
  /// [low, high) of the ranges that DW_AT_ranges of a DIE names, without the empty ones; good until the next
  /// call. Null where libdw has to be asked.
  const std::vector<std::pair<uint64_t, uint64_t>>* of(const DieScan& scan, const DieScan::Here& here);

 private:
  bool read(uint64_t offset);

  UnitLists unit_;
  std::vector<std::pair<uint64_t, uint64_t>> ranges_;
};

}  // namespace cacheline::symbols
