// libdw runs the line-number program; its rows are copied into sorted arrays.
#include "symbols/line_table.h"

#include <algorithm>
#include <unordered_map>

#include "symbols/file_table.h"

namespace cacheline::symbols {

LineTable::LineTable(Dwarf_Die& unit, const std::string& compilationDir, const IntervalMap& code) {
  Dwarf_Lines* lines = nullptr;
  size_t count = 0;
  if (dwarf_getsrclines(&unit, &lines, &count) != 0) return;
  std::unordered_map<const char*, uint32_t> fileIds;  // libdw gives each file of a unit one pointer
  const char* lastSource = nullptr;
  uint32_t lastFile = 0;
  starts_.reserve(count);
  rows_.reserve(count);
  for (size_t i = 0; i < count; i++) {
    Dwarf_Line* line = dwarf_onesrcline(lines, i);
    Dwarf_Addr address = 0;
    bool end = false;
    int number = 0, column = 0;
    if (line == nullptr || dwarf_lineaddr(line, &address) != 0 || dwarf_lineendsequence(line, &end) != 0)
      continue;
    if (!code.find(address) && !(end && address > 0 && code.find(address - 1))) continue;
    Row row{kEnd, 0, 0};
    if (!end) {
      const char* source = dwarf_linesrc(line, nullptr, nullptr);
      if (source != lastSource || i == 0) {
        const auto [known, isNew] = fileIds.try_emplace(source, static_cast<uint32_t>(files_.size()));
        if (isNew) files_.push_back(source == nullptr ? "" : sourcePath(compilationDir, source));
        lastFile = known->second;
        lastSource = source;
      }
      dwarf_lineno(line, &number);
      dwarf_linecol(line, &column);
      row = {lastFile, static_cast<uint32_t>(std::max(number, 0)),
             static_cast<uint32_t>(std::max(column, 0))};
    }
    // libdw sorts by address and keeps the program's order among equals: the last row is the one in force.
    if (!starts_.empty() && starts_.back() == address) {
      rows_.back() = row;
    } else {
      starts_.push_back(address);
      rows_.push_back(row);
    }
  }
}

LinePosition LineTable::find(uint64_t address) const {
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), address);
  if (after == starts_.begin()) return {};
  const Row& row = rows_[static_cast<size_t>(after - starts_.begin()) - 1];
  if (row.file == kEnd) return {};
  return {&files_[row.file], row.line, row.column};
}

}  // namespace cacheline::symbols
