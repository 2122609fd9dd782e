// What to say where debug information continues in .dwo files that cannot be read.
#pragma once

#include <string>
#include <vector>

namespace cacheline::symbols {

/// A .dwo file of which not all is read.
struct MissingSplit {
  std::string name;           ///< as the compiler wrote it
  bool typeSections = false;  ///< it is there, with sections that cannot be joined; else it was not found
};

struct SplitProblem {
  std::string what;  ///< a sentence
  std::string next;  ///< what a person can do
};

/// `missing`: not empty. A package of them (.dwp) beside the binary is named: elfutils before 0.191 does not
/// open it.
SplitProblem splitProblem(const std::string& binary, const std::vector<MissingSplit>& missing);

}  // namespace cacheline::symbols
