// Running processes and threads that a recording attaches to.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "record/target.h"

namespace cacheline::record {

class Attached {
 public:
  /// Looks at each of target.ids and, with target.descendants, at what they started. Throws Error(usage):
  /// there is no such process or thread, it has ended, it is the kernel's own, a thread's id is given for a
  /// process; Error(impossible): it is another user's. Descendants that cannot be recorded are left out.
  explicit Attached(const Target& target);

  /// What is attached to: target.ids, behind them the descendants that were asked for.
  std::vector<pid_t> ids() const;
  /// Sentences for a person, of now: processes that are stopped, descendants that are not recorded.
  std::vector<std::string> warnings() const;
  /// Become readable when a process ends; threads are looked for by ended().
  std::vector<int> wakeups() const;
  /// All of them have ended.
  bool ended();
  /// The processes of target.ids.
  const std::vector<pid_t>& processes() const { return processes_; }
  /// User + system time in seconds that they were seen to use since the start; waited-for children are left
  /// out. A process that has ended is looked at once more while it waits for its parent (ended()); what one
  /// whose parent was faster, or a thread alone, used since the call before is missed.
  double cpuSeconds();

 private:
  struct One {
    pid_t id = 0, process = 0;
    UniqueFd pidfd;  // empty for threads, and on kernels before 5.3
    bool ended = false;
    double firstCpu = 0, lastCpu = 0;

    void look();
  };
  void add(pid_t id, bool thread);
  void addDescendants();

  const Target target_;
  size_t refused_ = 0, gone_ = 0;  ///< descendants that could not be recorded: others' ones, and ended ones
  std::vector<One> all_;
  std::vector<pid_t> processes_;
};

/// A process's or thread's name, for sentences: "4711 (spin)".
std::string nameOfTask(pid_t id);

}  // namespace cacheline::record
