// libdw finds the files and opens them; here it is seen what it leaves out of them.
#include "symbols/split_units.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/mapped_file.h"
#include "symbols/die.h"
#include "symbols/elf_file.h"

namespace cacheline::symbols {
namespace {

namespace fs = std::filesystem;

/// As the compiler wrote it.
std::string splitName(Dwarf_Die& skeleton) {
  for (const unsigned attribute : {DW_AT_dwo_name, DW_AT_GNU_dwo_name})
    if (const char* name = stringAttribute(skeleton, attribute)) return name;
  return "(unnamed)";
}

/// gcc gives each type unit of a .dwo file a section of its own, all of one name; elfutils takes the first.
bool hasTypeSections(const std::string& path) {
  try {
    const MappedFile mapped = MappedFile::open(path);
    const ElfFile file = ElfFile::parse(mapped.bytes(), path);
    const auto count = [&](const char* name) {
      return std::count_if(file.sections.begin(), file.sections.end(),
                           [&](const ElfSection& section) { return section.name == name; });
    };
    return count(".debug_info.dwo") > 1 || count(".debug_types.dwo") > 1;
  } catch (const Error&) {
    return false;  // then that is what is wrong with it
  }
}

}  // namespace

/// Where libdw looks: from the binary's folder on, then from the compiler's.
std::string SplitUnits::pathOf(Dwarf_Die& skeleton, const std::string& name) const {
  std::error_code error;
  const fs::path folder = fs::canonical(binary_, error).parent_path();
  const char* compilationDir = stringAttribute(skeleton, DW_AT_comp_dir);
  for (const fs::path& path :
       {folder / name, folder / (compilationDir != nullptr ? compilationDir : "") / name})
    if (fs::is_regular_file(path, error)) return path;
  return {};
}

std::optional<Dwarf_Die> SplitUnits::of(Dwarf_Die skeleton) {
  const auto [known, isNew] = known_.try_emplace(skeleton.cu);
  if (!isNew) return known->second;
  const std::string name = splitName(skeleton);
  const std::string path = pathOf(skeleton, name);
  const bool typeSections = !path.empty() && hasTypeSections(path);
  Dwarf_Die split{};
  if (dwarf_cu_info(skeleton.cu, nullptr, nullptr, nullptr, &split, nullptr, nullptr, nullptr) == 0 &&
      split.addr != nullptr)
    known->second = split;
  if (!known->second || typeSections) missing_.push_back({name, typeSections});
  return known->second;
}

}  // namespace cacheline::symbols
