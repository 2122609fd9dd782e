// Address to source line for one compilation unit, and its table of source files.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "symbols/interval_map.h"

namespace cacheline::symbols {

/// `name` made absolute with the unit's DW_AT_comp_dir where it is relative and that is absolute; `.`, `..`
/// and doubled slashes are resolved in the text alone, without asking the file system.
std::string sourcePath(const std::string& compilationDir, std::string_view name);

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
  std::vector<uint64_t> starts_;                ///< ascending and distinct; row i reaches to starts_[i + 1]
  std::vector<Row> rows_;
  std::vector<std::string> files_;
};

/// The file numbers that DW_AT_decl_file and DW_AT_call_file of one unit use.
class FileTable {
 public:
  FileTable() = default;
  FileTable(Dwarf_Die& unit, std::string compilationDir);
  /// Empty where the number is not in the table.
  const std::string& name(uint64_t number);
  /// Numbers are below this.
  uint64_t size() const;

 private:
  Dwarf_Files* files_ = nullptr;
  std::string compilationDir_;
  std::vector<std::string> names_;  ///< filled as they are asked for
};

}  // namespace cacheline::symbols
