// On which CPUs threads ran, and when: what tells threads that took turns on one CPU, where a line stays in
// the cache, from threads that ran at the same time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/cpu_cores.h"
#include "analysis/intervals.h"
#include "analysis/thread_table.h"

namespace cacheline::analysis {

/// What says where threads ran.
enum class RanBy : uint8_t {
  switches,  ///< records of context switches
  samples    ///< the CPUs of samples: between two of them on different CPUs, a thread may have been on both
};
const char* ranByName(RanBy by);

class Whereabouts {
 public:
  /// A thread ran on one CPU from time to time between `from` and `to`, ns; kNoCpu: it may have, on any.
  struct Stretch {
    uint64_t from = 0, to = 0;
    uint32_t cpu = kNoCpu;
  };
  /// Of one thread, by `from` and by `to`.
  using Stretches = std::vector<Stretch>;
  struct Trail {
    Stretches ran;
    Stretches ready;  ///< it ran, or could have; CPUs are not told. Empty: this is not known.
  };

  /// `trails`: by thread. `everyCpu`: no CPU's samples were left out.
  Whereabouts(RanBy by, bool everyCpu, CpuCores cores, std::vector<Trail> trails);

  RanBy by() const { return by_; }
  /// Whether samples show all accesses that they could, on whichever CPU.
  bool everyCpu() const { return everyCpu_; }
  /// Whether a thread (an index) ran, or may have, between two times on another core than that of `cpu`.
  bool ranElsewhere(uint32_t thread, uint32_t cpu, uint64_t after, uint64_t until) const;
  /// Whether a thread ran between two times, or waited for a CPU.
  bool wasReady(uint32_t thread, uint64_t after, uint64_t until) const;
  /// Whether two CPUs are of different cores. A CPU that is not known (kNoCpu) may be any.
  bool areApart(uint32_t a, uint32_t b) const {
    return a == kNoCpu || b == kNoCpu || cores_.of(a) != cores_.of(b);
  }

 private:
  struct Thread {
    Trail trail;
    std::optional<uint32_t> onlyCore;
  };
  RanBy by_;
  bool everyCpu_;
  CpuCores cores_;
  std::vector<Thread> threads_;
};

/// Makes them out of one reading of a recording in the order of time.
class WhereaboutsReader : private IntervalVisitor {
 public:
  /// References are kept. `cpusKnown`: records say their CPUs.
  WhereaboutsReader(const Timeline& timeline, bool cpusKnown)
      : all_(timeline), follower_(all_, *this, cpusKnown) {}
  WhereaboutsReader(const WhereaboutsReader&) = delete;
  WhereaboutsReader& operator=(const WhereaboutsReader&) = delete;

  /// Gets all records of threads and, where context switches are recorded, all samples.
  ThreadFollower& follower() { return follower_; }
  /// A sample that the report counts. `thread`: index of `take()`'s table.
  void onSample(uint32_t thread, uint32_t cpu, uint64_t time) {
    if (thread >= sampled_.size()) sampled_.resize(thread + size_t{1});
    Whereabouts::Stretches& stretches = sampled_[thread].ran;
    if (!stretches.empty() && stretches.back().cpu == cpu)
      stretches.back().to = time;
    else
      moved(stretches, cpu, time);
  }
  /// After the last record. `threads`: those that were sampled. `everyCpu`, `cores`: as Whereabouts has them.
  /// Null where nothing tells: no context switches are recorded, and samples of some CPUs are missing.
  std::shared_ptr<const Whereabouts> take(const ThreadTable& threads, bool everyCpu, CpuCores cores);

 private:
  void onInterval(const Interval& interval) override;
  static void moved(Whereabouts::Stretches& stretches, uint32_t cpu, uint64_t time);

  ThreadTable all_;  ///< those that samples have no part in, too
  ThreadFollower follower_;
  std::vector<Whereabouts::Trail> ran_;      ///< by index in `all_`
  std::vector<Whereabouts::Trail> sampled_;  ///< by thread
};

}  // namespace cacheline::analysis
