// `cacheline where`: where the memory of a program or a running process lies, and where its threads run.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "machine/placement.h"
#include "machine/topology.h"
#include "record/child_process.h"

namespace cacheline::record {

struct WhereOptions {
  pid_t pid = 0;                     ///< a running process; 0: `command`
  std::vector<std::string> command;  ///< program and arguments; the program is looked up in PATH
  double seconds = 3;                ///< that a running process is looked at; a command: to its end
  machine::Roots roots;
};

struct WhereResult {
  machine::Topology topology;
  machine::Placement placement;
  std::optional<Ending> ending;  ///< of the command
  bool interrupted = false;      ///< `stop` was set
};

/// Looks at the process, or runs the command and looks at it and at the processes that it starts. Ends with
/// the process, after `seconds`, or by `stop`; a command is then asked to end (SIGTERM, after 5 s SIGKILL).
/// `progress` (may be empty) gets the seconds so far, some five times a second. Blocks.
/// What cannot be seen is empty in the result, with its reason (another user's memory). Errors: usage (no
/// such program or process, not executable, a thread's id, a thread of the kernel, seconds that are no time).
WhereResult where(const WhereOptions& options, const std::atomic<bool>& stop,
                  const std::function<void(double)>& progress = {});

}  // namespace cacheline::record
