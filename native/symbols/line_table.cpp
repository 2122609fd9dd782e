// The rows of the line-number program in sorted arrays. Sequences that lie one behind the other, as linkers
// leave them, only want to be put in order; for all others libdw is asked, which sorts row by row.
#include "symbols/line_table.h"

#include <algorithm>
#include <unordered_map>

#include "symbols/file_table.h"
#include "symbols/line_program.h"

namespace cacheline::symbols {

namespace {

bool isKept(uint64_t address, bool end, const IntervalMap& code) {
  return code.find(address) || (end && address > 0 && code.find(address - 1));
}

}  // namespace

LineTable::LineTable(Dwarf_Die& unit, const std::string& compilationDir, const IntervalMap& code) {
  if (read(unit, compilationDir, code)) return;
  *this = {};
  ask(unit, compilationDir, code);
}

/// Of rows at one address the last one is in force.
void LineTable::add(uint64_t address, const Row& row) {
  if (!starts_.empty() && starts_.back() == address) {
    rows_.back() = row;
    return;
  }
  starts_.push_back(address);
  rows_.push_back(row);
}

/// False: it is not as linkers leave it.
bool LineTable::read(Dwarf_Die& unit, const std::string& compilationDir, const IntervalMap& code) {
  const auto program = LineProgram::of(unit);
  const auto rows = program ? program->rows() : std::nullopt;
  if (!rows) return false;
  struct Sequence {
    size_t first = 0, end = 0;  ///< rows [first, end)
  };
  std::vector<Sequence> sequences;
  bool ascending = true;
  for (size_t first = 0, i = 0; i < rows->size(); ++i) {
    const LineProgram::Row& row = (*rows)[i];
    if (i > first && row.address < (*rows)[i - 1].address) ascending = false;
    if (!row.end) continue;
    // What the linker dropped begins at 0 (or -1), and may be long enough to seem to reach into the code.
    if (code.find((*rows)[first].address)) {
      if (!ascending) return false;
      sequences.push_back({first, i + 1});
    }
    first = i + 1;
    ascending = true;
  }
  std::stable_sort(sequences.begin(), sequences.end(), [&](const Sequence& a, const Sequence& b) {
    return (*rows)[a.first].address < (*rows)[b.first].address;
  });
  FileTable files(*program, compilationDir);
  std::vector<uint32_t> known(files.size() + 1, kEnd);  // by number; the last one is any other
  starts_.reserve(rows->size());
  rows_.reserve(rows->size());
  uint64_t before = 0;
  for (const Sequence& sequence : sequences) {
    if ((*rows)[sequence.first].address < before) return false;
    before = (*rows)[sequence.end - 1].address;
    for (size_t i = sequence.first; i < sequence.end; ++i) {
      const LineProgram::Row& from = (*rows)[i];
      if (!isKept(from.address, from.end, code)) continue;
      if (from.end) {
        // Behind a row at its own address libdw has none.
        if (starts_.empty() || starts_.back() != from.address) add(from.address, {kEnd, 0, 0});
        continue;
      }
      uint32_t& file = known[std::min<size_t>(from.file, files.size())];
      if (file == kEnd) {
        file = static_cast<uint32_t>(files_.size());
        files_.push_back(files.name(from.file));
      }
      add(from.address, {file, from.line <= INT32_MAX ? from.line : 0, from.column});
    }
  }
  return rows_.empty() || rows_.back().file == kEnd;
}

void LineTable::ask(Dwarf_Die& unit, const std::string& compilationDir, const IntervalMap& code) {
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
    if (!isKept(address, end, code)) continue;
    Row row{kEnd, 0, 0};
    if (!end) {
      const char* source = dwarf_linesrc(line, nullptr, nullptr);
      if (source != lastSource || files_.empty()) {
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
    add(address, row);  // libdw sorts by address and keeps the program's order among equals
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
