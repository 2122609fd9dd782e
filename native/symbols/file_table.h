// The table of source files of one compilation unit.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/line_program.h"

namespace cacheline::symbols {

/// `name` made absolute with the unit's DW_AT_comp_dir where it is relative and that is absolute; `.`, `..`
/// and doubled slashes are resolved in the text alone, without asking the file system.
std::string sourcePath(const std::string& compilationDir, std::string_view name);

/// The file numbers that DW_AT_decl_file and DW_AT_call_file of one unit use. Read from the header of the
/// unit's line-number program: libdw runs the whole program for them, and is asked where the header is
/// unusual.
class FileTable {
 public:
  FileTable() = default;
  FileTable(Dwarf_Die& unit, std::string compilationDir);
  /// `program`: the unit's.
  FileTable(const LineProgram& program, std::string compilationDir);
  /// Empty where the number is not in the table.
  const std::string& name(uint64_t number);
  /// Numbers are below this.
  uint64_t size() const { return names_.size(); }

 private:
  Dwarf_Files* files_ = nullptr;            ///< where libdw was asked
  std::vector<LineProgram::File> entries_;  ///< where it was not
  std::string compilationDir_;
  std::vector<std::string> names_;  ///< filled as they are asked for
};

}  // namespace cacheline::symbols
