// libdw runs the line-number program; its rows are copied into sorted arrays.
#include "symbols/line_table.h"

#include <algorithm>
#include <unordered_map>

namespace cacheline::symbols {

std::string sourcePath(const std::string& compilationDir, std::string_view name) {
  if (name.empty() || name == "???") return {};  // what libdw says for a missing entry
  std::string joined(name);
  if (name[0] != '/' && !compilationDir.empty()) joined = compilationDir + "/" + joined;
  const bool absolute = joined[0] == '/';
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= joined.size();) {
    const size_t end = std::min(joined.find('/', begin), joined.size());
    const std::string_view part = std::string_view(joined).substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!parts.empty() && parts.back() != "..") {
        parts.pop_back();
        continue;
      }
      if (absolute) continue;
    }
    parts.push_back(part);
  }
  std::string path;
  for (std::string_view part : parts) {
    if (absolute || !path.empty()) path += '/';
    path += part;
  }
  return path;
}

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

FileTable::FileTable(Dwarf_Die& unit, std::string compilationDir)
    : compilationDir_(std::move(compilationDir)) {
  size_t count = 0;
  if (dwarf_getsrcfiles(&unit, &files_, &count) == 0) names_.resize(count);
}

uint64_t FileTable::size() const {
  return names_.size();
}

const std::string& FileTable::name(uint64_t number) {
  static const std::string unknown;
  if (number >= names_.size()) return unknown;
  std::string& known = names_[static_cast<size_t>(number)];
  if (known.empty())
    if (const char* source = dwarf_filesrc(files_, static_cast<size_t>(number), nullptr, nullptr))
      known = sourcePath(compilationDir_, source);
  return known;
}

}  // namespace cacheline::symbols
