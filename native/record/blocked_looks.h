// Looks at threads that are blocked in a futex, for little: where their code is, and the top of their stack.
// Whether it is a lock that they wait for is told later, by who called (scheduling/lock_waits.h).
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace cacheline::record {

/// The file in the recording that finish() writes: one JSON object a line, for each stack of a thread
/// {"pid", "tid", "ip", "sp": hex, "stack": hex bytes from sp on, "looks": [begin, end, begin, end, ...]}, ns
/// of CLOCK_MONOTONIC. Where a thread was blocked from before a look began until after it ended, it was so in
/// this code.
inline constexpr const char* kBlockedFile = "blocked.jsonl";

class BlockedLooks {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPause{20};
  /// After a look at all threads comes a pause of at least so many times the CPU time that it took: 0.5% of
  /// a CPU.
  static constexpr int kPauses = 200;
  static constexpr size_t kStackBytes = 512;
  /// After so many different stacks, and so many looks, the pause becomes twice as long, again and again:
  /// what is kept grows with the logarithm of the time.
  static constexpr size_t kStacksADoubling = 500, kLooksADoubling = 20'000;

  explicit BlockedLooks(std::string procfs) : procfs_(std::move(procfs)) {}

  /// Looks at the threads of these processes, where it is time.
  void tick(const std::vector<pid_t>& processes);
  Clock::time_point next() const { return next_; }
  /// Writes the file, also where nothing was seen: then nobody waited for long. Not where no look was
  /// allowed: the kernel asks for ptrace's rights. Throws Error(io).
  void finish(const std::string& folder) const;

 private:
  struct Stack {
    pid_t pid = 0, tid = 0;
    uint64_t ip = 0, sp = 0;
    std::vector<uint8_t> bytes;
    std::vector<uint64_t> looks;
  };
  void lookAt(pid_t pid, pid_t tid);

  const std::string procfs_;
  Clock::time_point next_{};
  HashMap<uint64_t, uint32_t> index_;  ///< of stacks_, by a hash of all that they are told apart by
  std::vector<Stack> stacks_;
  size_t looks_ = 0;
  bool looked_ = false;  ///< the kernel said of some thread what it does
};

}  // namespace cacheline::record
