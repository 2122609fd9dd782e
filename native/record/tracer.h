// Follows objects of one type through a running program, one at a time: from its allocation to its free the
// accesses to a few of its words trap.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "record/kernel.h"
#include "record/program.h"
#include "record/trace_request.h"

namespace cacheline::record {

/// Writes FOLDER/trace.jsonl, and what WatchLog does. Works on a thread of its own between start() and
/// finish(): a thread of the program waits for its answers.
class Tracer {
 public:
  using Processes = std::function<std::vector<pid_t>()>;

  /// Throws RefusedError (kind impossible) where the kernel gives no watchpoint, Error(impossible) where the
  /// agent cannot get into the program, Error(io). `kernel` is kept; `processes` are those of the program,
  /// and is asked on the tracer's thread.
  Tracer(TraceOptions options, TraceSubject subject, const Program& program, Processes processes,
         std::string folder, const Kernel& kernel = Kernel::real());
  ~Tracer();

  /// The program's environment with the agent in it.
  std::vector<std::string> environment(std::vector<std::string> environment) const;
  void start();
  /// Once, when the program has ended or the recording does; what failed meanwhile is thrown here: Error(io),
  /// RefusedError.
  void finish();

  /// After finish().
  TraceCounts counts() const;
  /// Sentences for a person: why nothing was followed, what was lost.
  std::vector<std::string> warnings() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cacheline::record
