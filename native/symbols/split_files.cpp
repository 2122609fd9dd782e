// Sentences about .dwo and .dwp files.
#include "symbols/split_files.h"

#include <elfutils/version.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/mapped_file.h"
#include "symbols/elf_file.h"

namespace cacheline::symbols {
namespace {

constexpr int kOpensPackages = 191;  ///< of elfutils that reads .dwp files (NEWS of 0.191)

/// gcc gives each type unit of a .dwo file a section of its own, all of one name; elfutils takes the first.
bool hasTypeSections(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  try {
    const MappedFile mapped = MappedFile::open(path);
    const ElfFile file = ElfFile::parse(mapped.bytes(), path);
    return std::count_if(file.sections.begin(), file.sections.end(),
                         [](const ElfSection& section) { return section.name == ".debug_info.dwo"; }) > 1;
  } catch (const Error&) {
    return false;  // then that is what is wrong with it
  }
}

}  // namespace

SplitProblem splitProblem(const std::string& binary, const std::vector<std::string>& missing) {
  const std::string next =
      "Keep the .dwo files where the compiler wrote them, or compile without -gsplit-dwarf.";
  if (_ELFUTILS_VERSION < kOpensPackages && ::access((binary + ".dwp").c_str(), F_OK) == 0)
    return {"The debug information of " + binary + " continues in " + binary +
                ".dwp, which elfutils opens from 0." + std::to_string(kOpensPackages) +
                " on, and this is built with 0." + std::to_string(_ELFUTILS_VERSION) + ".",
            next};
  const auto folder = std::filesystem::path(binary).parent_path();
  if (hasTypeSections(folder / missing.front()))
    return {"The debug information of " + binary + " continues in " + missing.front() +
                ", where each type has a section of its own, of which elfutils reads one only.",
            "Compile without -fdebug-types-section, or without -gsplit-dwarf."};
  const bool one = missing.size() == 1;
  return {"The debug information of " + binary + " continues in " + std::to_string(missing.size()) +
              (one ? " .dwo file that was" : " .dwo files that were") + " not found: " + missing.front() +
              (one ? "." : ", ..."),
          next};
}

}  // namespace cacheline::symbols
