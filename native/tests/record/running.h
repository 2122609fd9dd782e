// A program that runs beside the test, for recordings that attach to it.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "support.h"

namespace cacheline::record::test {

/// Options that record what runs already into the folder's new sub-folder "out".
RecordOptions attachTo(const TemporaryFolder& folder, std::vector<pid_t> ids,
                       Target::Kind kind = Target::Kind::processes);

/// Waits until a process that was forked to run a program has it mapped, or has ended.
void waitForExec(pid_t process);

class Running {
 public:
  /// Starts it and waits until it is mapped; it does not know of the recorder.
  explicit Running(const std::vector<std::string>& command);
  /// Kills and reaps it.
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  pid_t pid() const { return pid_; }
  bool alive() const;
  /// Waits until it has that many threads.
  void waitForThreads(size_t count) const;
  /// Waits for its end: its exit status, or 128 + signal.
  int wait();

 private:
  pid_t pid_ = -1;
  bool reaped_ = false;
};

/// The CPU time of the threads that a process has started, from the construction on: what the scheduler gives
/// each of them, and when, is its own affair.
class CpuTimes {
 public:
  explicit CpuTimes(pid_t process);
  /// Of the thread that had the least of it, in seconds (ticks of 10 ms).
  double least() const;

 private:
  pid_t process_;
  std::map<pid_t, double> atFirst_;
};

}  // namespace cacheline::record::test
