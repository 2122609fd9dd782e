// Names of files, made when they are asked for.
#include "symbols/file_table.h"

#include <algorithm>
#include <utility>

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

FileTable::FileTable(const LineProgram& program, std::string compilationDir)
    : entries_(program.files()), compilationDir_(std::move(compilationDir)), names_(entries_.size()) {}

FileTable::FileTable(Dwarf_Die& unit, std::string compilationDir) {
  size_t count = 0;
  if (const auto program = LineProgram::of(unit)) {
    *this = FileTable(*program, std::move(compilationDir));
  } else {
    compilationDir_ = std::move(compilationDir);
    if (dwarf_getsrcfiles(&unit, &files_, &count) == 0) names_.resize(count);
  }
}

const std::string& FileTable::name(uint64_t number) {
  static const std::string unknown;
  if (number >= names_.size()) return unknown;
  std::string& known = names_[static_cast<size_t>(number)];
  if (!known.empty()) return known;
  if (files_ != nullptr) {
    if (const char* source = dwarf_filesrc(files_, static_cast<size_t>(number), nullptr, nullptr))
      known = sourcePath(compilationDir_, source);
    return known;
  }
  const auto& [name, folder] = entries_[static_cast<size_t>(number)];
  known = name.starts_with('/') || folder.empty()
              ? sourcePath(compilationDir_, name)
              : sourcePath(compilationDir_, std::string(folder) + '/' + std::string(name));
  return known;
}

}  // namespace cacheline::symbols
