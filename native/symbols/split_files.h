// What to say where debug information continues in .dwo files that cannot be read.
#pragma once

#include <string>
#include <vector>

namespace cacheline::symbols {

/// A .dwo file of which not all is read.
struct MissingSplit {
  enum class Why {
    notFound,
    notRegular,    ///< a folder, a FIFO, a device
    notReadable,   ///< `detail` says why
    damaged,       ///< no unit can be read of it, or not the one that is looked for
    otherBuild,    ///< its units have other ids
    typeSections,  ///< it has sections that cannot be joined
  };
  std::string name;  ///< as the compiler wrote it
  Why why = Why::notFound;
  std::string detail = {};
};

/// Why nothing can be read at a path that is looked at as a file: notFound, notRegular, notReadable, or
/// damaged, which stands for anything that only reading can tell.
MissingSplit::Why whyUnreadable(const std::string& path, std::string& detail);
/// "was not found", "is cut off or damaged", ... ; `isMany`: "were not found".
std::string whyText(MissingSplit::Why why, bool isMany);

struct SplitProblem {
  std::string what;  ///< a sentence
  std::string next;  ///< what a person can do
};

/// Whether there is something that a program must not open to see whether it is debug information: opening a
/// FIFO waits for a writer, opening a device may do anything.
bool mayBlock(const std::string& path);

/// `missing`: not empty. A package of them (.dwp) beside the binary is named: elfutils before 0.191 does not
/// open it.
SplitProblem splitProblem(const std::string& binary, const std::vector<MissingSplit>& missing);

}  // namespace cacheline::symbols
