// The breakpoint events themselves: on every thread of some processes, on every CPU, up to four words at a
// time.
#pragma once

#include <linux/perf_event.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "record/kernel.h"
#include "record/ring_buffer.h"
#include "record/watch_request.h"

namespace cacheline::record {

/// One trapped access, in the ring's own bytes.
struct WatchHit {
  uint64_t ip = 0, time = 0, address = 0, id = 0;
  uint32_t pid = 0, tid = 0;
  std::vector<uint8_t> record;  ///< the whole perf record
};

/// The x86 debug registers that a program may have.
inline constexpr size_t kDebugRegisters = 4;

class WatchEvents {
 public:
  /// Opens the rings and tries one watchpoint on the calling thread, which tells whether this machine has
  /// them and what a hit costs. Throws RefusedError. `kernel` is kept.
  explicit WatchEvents(const Kernel& kernel);

  /// Of one hit, measured here.
  std::chrono::nanoseconds hitCost() const { return hitCost_; }
  const perf_event_attr& attr() const { return attr_; }
  std::vector<uint64_t> ids() const;
  std::vector<int> wakeups() const;

  struct Armed {
    std::vector<WatchWord> words;  ///< that are watched now
    std::map<pid_t, int> refused;  ///< errno that kept the next word of a process from being watched
  };
  /// Watches `words` on all threads of their processes, threads that start later included. Words that were
  /// watched before are not watched any more.
  Armed arm(const std::vector<WatchWord>& words);
  /// The next drain() then knows of all hits that were lost, also of those behind which the kernel wrote
  /// nothing that told of them (Linux 6.0; before, these stay unknown).
  void disarm();
  /// Watches threads that nobody saw begin (see findThreads); arm() does so, too.
  void follow();

  struct Drained {
    std::vector<WatchHit> hits;  ///< by time
    uint64_t lost = 0, throttled = 0;
  };
  Drained drain();

 private:
  struct Slot {
    std::vector<UniqueFd> fds;  ///< one a CPU; empty: the thread has no such event
    std::vector<uint64_t> ids;
    std::vector<uint64_t> lost;  ///< by the events' own counts
  };
  struct Thread {
    pid_t tid = 0;
    bool late = false;       ///< it started while its process was being opened: maybe it inherited
    bool inherited = false;  ///< it did: it has no slots of its own
    std::vector<Slot> slots;
  };
  struct Process {
    std::vector<Thread> threads;
    std::vector<WatchWord> words;  ///< that are watched now
    std::chrono::steady_clock::time_point settled;
  };

  void measure();
  int openRings();
  int open(Thread& thread, size_t slot, const WatchWord& word);
  int watch(Thread& thread, size_t slot, const WatchWord& word);
  void findThreads(pid_t pid, Process& process);
  int cover(pid_t pid, const std::vector<WatchWord>& words, Armed& armed);
  void countLost(Slot& slot);
  void take(std::span<const uint8_t> records, Drained& drained);
  void dropDoubled(Drained& drained);

  const Kernel& kernel_;
  std::vector<uint32_t> cpus_;
  perf_event_attr attr_{};
  std::vector<UniqueFd> ringFds_;
  std::vector<RingBuffer> rings_;
  std::map<pid_t, Process> processes_;
  uint64_t lostByRecords_ = 0, lostByEvents_ = 0, lostTold_ = 0;
  std::set<uint64_t> doubled_;  ///< ids of closed events that had been opened beside inherited ones
  std::chrono::nanoseconds hitCost_{};
};

}  // namespace cacheline::record
