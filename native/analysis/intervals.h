// From records of context switches to what each thread did when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/thread_table.h"
#include "perfdata/reader.h"

namespace cacheline::analysis {

/// What a thread does. `runnable`: it could run and has no CPU, because another thread took it, it yielded,
/// or it has just begun. `unknown`: records are missing.
enum class Activity : uint8_t { running, runnable, blocked, unknown };
inline constexpr size_t kActivities = 4;
inline constexpr uint32_t kNoCpu = ~uint32_t{0};

/// A thread did one thing in [from, to), ns of the recording's clock. `to` is after `from`.
struct Interval {
  uint32_t thread = 0;  ///< index in the ThreadTable
  Activity activity = Activity::unknown;
  uint32_t cpu = kNoCpu;  ///< where it ran; kNoCpu: it did not, or the record does not say
  uint64_t from = 0, to = 0;
};

/// Receives what the followed threads do: of each thread in the order of time.
class IntervalVisitor {
 public:
  virtual ~IntervalVisitor() = default;
  virtual void onInterval(const Interval&) {}
  /// A thread left its CPU. `preempted`: it could have run on.
  virtual void onLeft(uint32_t /*thread*/, uint32_t /*cpu*/, bool /*preempted*/, uint64_t /*time*/) {}
  /// A thread was put on another CPU than the one before.
  virtual void onMigrated(uint32_t /*thread*/, uint64_t /*time*/) {}
};

/// Follows all threads but the idle ones through a recording. A SWITCH says when a thread was put on a CPU or
/// taken off it, and whether it could have run on (PERF_RECORD_MISC_SWITCH_OUT_PREEMPT); FORK, EXIT and exec
/// say when it began and ended; a sample proves that it runs. What these contradict is unknown, since records
/// are missing there: two times on a CPU without leaving it, a sample of a thread that is off its CPU.
///
/// What was there before the recording: a thread that first leaves its CPU, or is first seen in a sample, has
/// run since the first record; what one that first comes to a CPU did before is unknown.
class ThreadFollower : public perfdata::RecordVisitor {
 public:
  /// References are kept. `cpusKnown`: records say their CPUs.
  ThreadFollower(ThreadTable& threads, IntervalVisitor& visitor, bool cpusKnown)
      : threads_(threads), visitor_(visitor), cpusKnown_(cpusKnown) {}

  void onSample(const perfdata::Sample& sample) override;
  void onSwitch(const perfdata::Switch& record) override;
  void onFork(const perfdata::Task& record) override;
  void onExit(const perfdata::Task& record) override;
  void onComm(const perfdata::Comm& record) override;
  /// After the last record: what goes on then ends with it.
  void finish();

  uint64_t switches = 0;        ///< SWITCH records of threads
  uint64_t begin = 0, end = 0;  ///< of all records with times, ns; 0: there are none

 private:
  struct State {
    Activity activity = Activity::unknown;
    bool known = false, ended = false;
    uint32_t cpu = kNoCpu;      ///< where it runs
    uint32_t lastCpu = kNoCpu;  ///< where it ran last
    uint64_t since = 0;
  };
  /// Null for idle threads, and where the record does not say whose it is.
  State* stateOf(uint32_t pid, uint32_t tid, uint32_t& thread);
  /// The recording has come to a time. Those of a damaged file may go back; threads do not.
  uint64_t advance(uint64_t time);
  /// Ends what the thread does. `as`: what that was, where it is not what the state says.
  void close(uint32_t thread, State& state, uint64_t time, Activity as);
  void become(State& state, uint64_t time, Activity activity, uint32_t cpu);
  /// Something proves that the thread runs at that time.
  void runs(uint32_t thread, State& state, uint64_t time, uint32_t cpu);
  uint32_t cpuOf(uint32_t cpu) const { return cpusKnown_ ? cpu : kNoCpu; }

  ThreadTable& threads_;
  IntervalVisitor& visitor_;
  const bool cpusKnown_;
  std::vector<State> states_;  ///< by thread
};

}  // namespace cacheline::analysis
