// Adds up what threads do, by thread, CPU and bin of time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "analysis/intervals.h"
#include "base/hash.h"
#include "scheduling/schedule.h"

namespace cacheline::scheduling {

/// Equal parts of [from, to), ns.
class Bins {
 public:
  Bins(uint64_t from, uint64_t to, size_t count) : from_(from), to_(to), count_(count) {}
  uint64_t from() const { return from_; }
  uint64_t to() const { return to_; }
  size_t count() const { return count_; }
  /// Adds to each bin how much of [from, to) lies in it. What lies outside is left out.
  void add(std::vector<uint64_t>& bins, uint64_t from, uint64_t to) const;
  /// The bin of a time that is not outside.
  size_t at(uint64_t time) const;

 private:
  /// Where a bin begins, ns.
  uint64_t edge(size_t bin) const;
  uint64_t from_, to_;
  size_t count_;
};

/// What one thread did in the window.
struct ThreadTally {
  uint64_t first = ~uint64_t{0}, last = 0;  ///< ns of the recording's clock; first > last: it was not there
  std::array<uint64_t, analysis::kActivities> times{};
  uint64_t switches = 0, preempted = 0, migrations = 0;
  double contended = 0;
  std::map<LockCall, LockWait> locks;
  std::vector<CpuShare> cpus;  ///< in the order in which it came to them
  std::optional<Lane> lane;
};

struct CpuTally {
  uint64_t running = 0, switches = 0;
  std::vector<uint64_t> bins;
};

class Tally : public analysis::IntervalVisitor {
 public:
  explicit Tally(const Bins& bins) : bins_(bins) {}

  /// The threads (indices) whose times are told by bins.
  void keepLanes(std::span<const uint32_t> threads, bool contended);
  void onInterval(const analysis::Interval& interval) override;
  void onLeft(uint32_t thread, uint32_t cpu, bool preempted, uint64_t time) override;
  void onMigrated(uint32_t thread, uint64_t time) override;
  /// Of a thread's blocked time, [from, to) is spent waiting for a lock.
  void addLock(uint32_t thread, const LockCall& call, uint64_t from, uint64_t to);
  /// `amount`: ns.
  void addContended(uint32_t thread, uint64_t time, double amount);

  std::vector<ThreadTally> threads;  ///< by index in the ThreadTable
  HashMap<uint32_t, CpuTally> cpus;

 private:
  bool isInside(uint64_t time) const { return time >= bins_.from() && time <= bins_.to(); }
  ThreadTally& at(uint32_t thread);
  void addToCpus(ThreadTally& thread, uint32_t cpu, uint64_t from, uint64_t to);

  Bins bins_;
};

}  // namespace cacheline::scheduling
