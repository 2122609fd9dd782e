// Names of files, made when they are asked for.
#include "symbols/file_table.h"

#include <dwarf.h>

#include <algorithm>
#include <optional>
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

namespace {

/// The skeleton, whose table a compile unit in a .dwo file goes by: a table there is that of the type units.
std::optional<Dwarf_Die> skeletonOf(Dwarf_Die& unit) {
  uint8_t kind = 0;
  Dwarf_Attribute table;
  Dwarf_Die skeleton{};
  if (unit.cu == nullptr ||
      dwarf_cu_info(unit.cu, nullptr, &kind, nullptr, nullptr, nullptr, nullptr, nullptr) != 0 ||
      kind != DW_UT_split_compile || dwarf_hasattr(&unit, DW_AT_stmt_list) != 0 ||
      dwarf_attr_integrate(&unit, DW_AT_stmt_list, &table) == nullptr || table.cu == nullptr ||
      dwarf_cu_die(table.cu, &skeleton, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) == nullptr)
    return std::nullopt;
  return skeleton;
}

}  // namespace

FileTable::FileTable(const LineProgram& program, std::string compilationDir)
    : entries_(program.files()), compilationDir_(std::move(compilationDir)), names_(entries_.size()) {}

FileTable::FileTable(Dwarf_Die& unit, std::string compilationDir) {
  size_t count = 0;
  if (auto skeleton = skeletonOf(unit)) {
    *this = FileTable(*skeleton, std::move(compilationDir));
  } else if (const auto program = LineProgram::of(unit)) {
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
