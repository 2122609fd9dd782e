// What to say where debug information continues in .dwo files that were not found.
#pragma once

#include <string>
#include <vector>

namespace cacheline::symbols {

struct SplitProblem {
  std::string what;  ///< a sentence
  std::string next;  ///< what a person can do
};

/// `missing`: the files' names as the compiler wrote them, not empty. A package of them (.dwp) beside the
/// binary is named: elfutils before 0.191 does not open it.
SplitProblem splitProblem(const std::string& binary, const std::vector<std::string>& missing);

}  // namespace cacheline::symbols
