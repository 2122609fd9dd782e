// Where in the code threads contend: functions with their contended samples, and who calls them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/report.h"

namespace cacheline::scheduling {

inline constexpr size_t kMostFunctions = 100;
/// Of one function.
inline constexpr size_t kMostCalls = 20;

/// A function as a binary has it: what was inlined into it is a part of it.
struct FunctionName {
  std::string name;    ///< readable; empty: code of `object` that nothing names
  std::string object;  ///< base name of the binary; empty: no file backs the code
  auto operator<=>(const FunctionName&) const = default;
};

struct CallShare {
  FunctionName function;
  double samples = 0;  ///< contended samples in which it calls, or is called
};

struct ContendedFunction {
  FunctionName function;
  double self = 0;                          ///< contended samples in its own code
  double total = 0;                         ///< and in what it called, each sample once
  std::vector<CallShare> callers, callees;  ///< most samples first
};

/// By total, descending, then by self and name; at most kMostFunctions. Without call chains (Access::callers)
/// nobody calls anybody. A row's chains share its contended samples as they share its samples.
std::vector<ContendedFunction> contendedFunctions(const analysis::Report& report);

}  // namespace cacheline::scheduling
