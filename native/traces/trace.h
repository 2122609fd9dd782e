// The answer of `cacheline trace`: a recording's followed objects as paths.
#pragma once

#include <string>
#include <vector>

#include "traces/paths.h"
#include "traces/recorded.h"

namespace cacheline::traces {

struct Trace {
  std::string type, member;  ///< member: empty where the whole object was traced
  uint64_t instances = 0;    ///< objects that were followed; of variables, windows of time
  uint64_t truncated = 0;    ///< of them: followed no longer, though they lived on
  uint64_t accesses = 0;
  /// Share of the program's elapsed time that tracing took by its own account; empty: not known.
  std::optional<double> overhead;
  std::vector<Path> paths;
  std::vector<std::string> warnings;  ///< sentences
};

/// Reads a recording folder. Throws Error(unreadable) where it has no trace.
Trace traceOf(const std::string& recording);

/// The document `cacheline-trace/1` (docs/outputs.md). Valid JSON whatever bytes names hold.
std::string traceJson(const Trace& trace);

}  // namespace cacheline::traces
