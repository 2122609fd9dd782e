// A program that runs beside the test, for recordings that attach to it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace cacheline::record::test {

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

}  // namespace cacheline::record::test
