// Sentences about .dwo and .dwp files.
#include "symbols/split_files.h"

#include <elfutils/version.h>
#include <unistd.h>

#include <algorithm>

namespace cacheline::symbols {
namespace {

constexpr int kOpensPackages = 191;  ///< of elfutils that reads .dwp files (NEWS of 0.191)

}  // namespace

SplitProblem splitProblem(const std::string& binary, const std::vector<MissingSplit>& missing) {
  const std::string next =
      "Keep the .dwo files where the compiler wrote them, or compile without -gsplit-dwarf.";
  if (_ELFUTILS_VERSION < kOpensPackages && ::access((binary + ".dwp").c_str(), F_OK) == 0)
    return {"The debug information of " + binary + " continues in " + binary +
                ".dwp, which elfutils opens from 0." + std::to_string(kOpensPackages) +
                " on, and this is built with 0." + std::to_string(_ELFUTILS_VERSION) + ".",
            next};
  const auto isAbsent = [](const MissingSplit& file) { return !file.typeSections; };
  const auto absent = std::find_if(missing.begin(), missing.end(), isAbsent);
  if (absent == missing.end())
    return {"The debug information of " + binary + " continues in " + missing.front().name +
                ", where each type has a section of its own, which could not be read.",
            "Compile without -fdebug-types-section, or without -gsplit-dwarf."};
  const auto count = std::count_if(missing.begin(), missing.end(), isAbsent);
  return {"The debug information of " + binary + " continues in " + std::to_string(count) +
              (count == 1 ? " .dwo file that was" : " .dwo files that were") + " not found: " + absent->name +
              (count == 1 ? "." : ", ..."),
          next};
}

}  // namespace cacheline::symbols
