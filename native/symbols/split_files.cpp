// Sentences about .dwo and .dwp files.
#include "symbols/split_files.h"

#include <elfutils/version.h>
#include <unistd.h>

namespace cacheline::symbols {
namespace {

constexpr int kOpensPackages = 191;  ///< of elfutils that reads .dwp files (NEWS of 0.191)

}  // namespace

SplitProblem splitProblem(const std::string& binary, const std::vector<std::string>& missing) {
  const std::string next =
      "Keep the .dwo files where the compiler wrote them, or compile without -gsplit-dwarf.";
  if (_ELFUTILS_VERSION < kOpensPackages && ::access((binary + ".dwp").c_str(), F_OK) == 0)
    return {"The debug information of " + binary + " continues in " + binary +
                ".dwp, which elfutils opens from 0." + std::to_string(kOpensPackages) +
                " on, and this is built with 0." + std::to_string(_ELFUTILS_VERSION) + ".",
            next};
  const bool one = missing.size() == 1;
  return {"The debug information of " + binary + " continues in " + std::to_string(missing.size()) +
              (one ? " .dwo file that was" : " .dwo files that were") + " not found: " + missing.front() +
              (one ? "." : ", ..."),
          next};
}

}  // namespace cacheline::symbols
