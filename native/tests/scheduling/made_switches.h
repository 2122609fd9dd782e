// Recordings of context switches with a known truth.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "analysis/timeline.h"
#include "perfdata/file_builder.h"
#include "perfdata/reader.h"
#include "perfdata/record_builder.h"
#include "scheduling/schedule.h"

namespace cacheline::scheduling::test {

inline constexpr uint64_t kMs = 1'000'000;
inline constexpr uint32_t kPid = 100;
/// Times of the records begin here, ns: no clock begins at 0.
inline constexpr uint64_t kBegin = 1000 * kMs;

/// Of clock samples, ns.
inline constexpr uint64_t kPeriod = 1'000'000'000 / 499;

/// A clock recording with records of context switches. Times are ms since its beginning.
class MadeSwitches {
 public:
  MadeSwitches() {
    builder_.event(perfdata::testing::clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                                PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD),
                   "cpu-clock:u");
  }
  perfdata::testing::RecordBuilder& at(uint64_t ms, uint32_t tid, uint32_t cpu = 0) {
    return builder_.at(kBegin + ms * kMs).thread(kPid, tid).cpu(cpu);
  }
  MadeSwitches& exec(uint64_t ms, uint32_t tid) {
    at(ms, tid).comm("program", true);
    return *this;
  }
  MadeSwitches& start(uint64_t ms, uint32_t by, uint32_t tid) {
    at(ms, by).fork(kPid, tid);
    return *this;
  }
  MadeSwitches& end(uint64_t ms, uint32_t tid) {
    at(ms, tid).exit();
    return *this;
  }
  MadeSwitches& in(uint64_t ms, uint32_t tid, uint32_t cpu = 0) {
    at(ms, tid, cpu).raw(PERF_RECORD_SWITCH, 0, {}, true);
    return *this;
  }
  MadeSwitches& blocks(uint64_t ms, uint32_t tid, uint32_t cpu = 0) {
    at(ms, tid, cpu).raw(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, {}, true);
    return *this;
  }
  MadeSwitches& preempted(uint64_t ms, uint32_t tid, uint32_t cpu = 0) {
    at(ms, tid, cpu)
        .raw(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, {}, true);
    return *this;
  }
  MadeSwitches& sample(uint64_t ms, uint32_t tid, uint32_t cpu = 0) {
    at(ms, tid, cpu).sample({.ip = 0x1000, .period = kPeriod});
    return *this;
  }
  perfdata::testing::RecordBuilder& builder() { return builder_; }

  Schedule schedule(const ScheduleOptions& options = {}, const analysis::Report* report = nullptr) const {
    const perfdata::testing::Bytes bytes = perfdata::testing::fileBytes(builder_);
    const auto reader = perfdata::Reader::fromBytes(bytes, "FILE");
    const analysis::Timeline timeline = analysis::Timeline::of(*reader);
    return scheduleOf(*reader, timeline, options, report);
  }

 private:
  perfdata::testing::RecordBuilder builder_;
};

/// The thread of that number; a failed test and an empty one where there is none.
inline ThreadSchedule threadOf(const Schedule& schedule, uint32_t tid) {
  for (const ThreadSchedule& thread : schedule.threads)
    if (thread.tid == tid) return thread;
  ADD_FAILURE() << "there is no thread " << tid;
  return {};
}

}  // namespace cacheline::scheduling::test
