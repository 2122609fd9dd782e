// Watches words of the running program with debug registers, in short windows that cost no more than they
// may.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "record/kernel.h"
#include "record/watch_request.h"

namespace cacheline::record {

/// Writes FOLDER/watch.data, a perf.data file with a sample a hit (IDENTIFIER, IP, TID, TIME, ADDR, CPU,
/// registers; CLOCK_MONOTONIC), and FOLDER/watch.jsonl, a line a word and window. Both are readable at any
/// moment and do not exist before something is watched. Belongs to one thread, the recorder's.
class Watcher {
 public:
  using Clock = std::chrono::steady_clock;
  /// The processes that are recorded and alive now.
  using Processes = std::function<std::vector<pid_t>()>;

  /// Throws RefusedError (kind impossible) where the kernel gives no watchpoint at all and the options
  /// require one; else that is a warning. `kernel` is kept.
  Watcher(WatchOptions options, Processes processes, std::string folder,
          const Kernel& kernel = Kernel::real());
  ~Watcher();

  /// Does what is due: asks for words, opens, drains and closes windows. Cheap where nothing is. Call it when
  /// next() is reached, when a descriptor of wakeups() is readable, and now and then. A disk that is full
  /// ends the watching with a warning.
  void tick();
  /// Asks for words at the next tick: they may have come into being.
  void askSoon();
  Clock::time_point next() const;
  /// What a person should not learn at the end only, a sentence each, each given once.
  std::vector<std::string> news();
  /// The same ones as long as this lives.
  std::vector<int> wakeups() const;
  /// Closes the window. Call it once, when the program has ended or the recording does, before counts() and
  /// warnings(). Throws Error(usage) where the options require a word and none was ever watched.
  void finish();

  WatchCounts counts() const;
  /// Sentences for a person: registers that a debugger holds, words that were not mapped, hits that were
  /// lost.
  std::vector<std::string> warnings() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cacheline::record
