// The recorded program's process: forked and held before exec until its events are open, then waited for.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace cacheline::record {

struct ChildSetup {
  std::string path;                      ///< as execve(2) gets it; relative to workingDirectory
  std::vector<std::string> arguments;    ///< argv, argv[0] included
  std::vector<std::string> environment;  ///< the whole environment, "NAME=value"
  std::string workingDirectory;          ///< empty: the caller's
  int stdoutFd = -1, stderrFd = -1;      ///< -1: the caller's
  bool stdinFromNull = false;
};

/// The step between fork and exec that failed, and its errno.
struct StartFailure {
  enum class Step : int { standardStreams, workingDirectory, exec } step = Step::exec;
  int errnum = 0;
};

struct Ending {
  std::optional<int> exitStatus;  ///< both empty: somebody else reaped it
  std::optional<int> signal;
  double cpuSeconds = 0;  ///< user + system, its waited-for children included
};

class ChildProcess {
 public:
  /// Forks. The child has default signal handling and waits; it runs nothing of the program yet, and ends
  /// if this process dies. Throws Error(impossible) where no process can be made.
  explicit ChildProcess(const ChildSetup& setup);
  /// Kills and reaps a child that was not started. A started one is left alone.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// Becomes readable when the process has ended; -1 on kernels before 5.3.
  int pidfd() const { return pidfd_.get(); }
  /// Lets it execute the program; returns once it does. On failure the child is gone.
  std::optional<StartFailure> start();
  /// Reaps it if it has ended.
  std::optional<Ending> poll();
  /// Waits for its end.
  Ending wait();
  void kill(int signal);

 private:
  std::optional<Ending> reap(int flags);

  pid_t pid_ = -1;
  bool started_ = false, reaped_ = false;
  // goRead_ is kept so that writing to a child that died is no SIGPIPE.
  UniqueFd go_, goRead_, failure_, pidfd_;
};

/// The caller's environment with `changes` ("NAME=value") added or replaced.
std::vector<std::string> mergedEnvironment(const std::vector<std::string>& changes);

/// Of the variable `name`; empty where there is none.
std::string valueIn(const std::vector<std::string>& environment, const std::string& name);

}  // namespace cacheline::record
