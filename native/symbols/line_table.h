// Address to source line for one compilation unit.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <vector>

#include "symbols/interval_map.h"

namespace cacheline::symbols {

struct LinePosition {
  const std::string* file = nullptr;  ///< null: unknown
  uint32_t line = 0, column = 0;      ///< 0: unknown
};

class LineTable {
 public:
  LineTable() = default;
  /// Rows outside of `code` (functions the linker dropped) are left out. `unit` is the compile or skeleton
  /// unit.
  LineTable(Dwarf_Die& unit, const std::string& compilationDir, const IntervalMap& code);
  LinePosition find(uint64_t address) const;

 private:
  struct Row {
    uint32_t file, line, column;
  };
  static constexpr uint32_t kEnd = UINT32_MAX;  ///< Row::file of the end of a sequence
  bool read(Dwarf_Die& unit, const std::string& compilationDir, const IntervalMap& code);
  void ask(Dwarf_Die& unit, const std::string& compilationDir, const IntervalMap& code);
  void add(uint64_t address, const Row& row);
  std::vector<uint64_t> starts_;  ///< ascending and distinct; row i reaches to starts_[i + 1]
  std::vector<Row> rows_;
  std::vector<std::string> files_;
};

}  // namespace cacheline::symbols
