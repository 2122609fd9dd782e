// Contended time of threads, from the histories of a report's lines.
#include "scheduling/contention.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "advice/report_builder.h"
#include "made_switches.h"

namespace cacheline::scheduling::test {
namespace {

constexpr uint32_t kRivals = 3;

/// Threads 0 and 1 write one word in turns for 100 ms, then thread 2 writes another line alone.
analysis::Report reportOfTwoRivals() {
  advice::ReportBuilder builder;
  builder.build(
      {{.thread = 0, .address = 0x1000, .writes = true, .count = 50, .from = kBegin, .step = 2 * kMs},
       {.thread = 1, .address = 0x1000, .writes = true, .count = 50, .from = kBegin + kMs, .step = 2 * kMs},
       {.thread = 2,
        .address = 0x2000,
        .writes = true,
        .count = 50,
        .from = kBegin + 100 * kMs,
        .step = kMs}});
  for (analysis::ThreadSamples& thread : builder.report.threads) {
    thread.pid = kPid;
    thread.tid += 101;
  }
  return builder.report;
}

TEST(Contention, AddsUpToThatOfTheLines) {
  const analysis::Report report = reportOfTwoRivals();
  std::map<uint32_t, double> samples;
  eachContended(report, [&](const ContendedSample& sample) { samples[sample.tid] += sample.samples; });
  EXPECT_EQ(report.contended, 100u);
  EXPECT_NEAR(samples[101], 50, 0.5);
  EXPECT_NEAR(samples[102], 50, 0.5);
  EXPECT_EQ(samples.count(103), 0u) << "nobody else uses its line";
}

TEST(Contention, LinesWithoutAHistoryAreLeftOut) {
  analysis::Report report = reportOfTwoRivals();
  for (analysis::Line& line : report.lines) line.history = nullptr;
  eachContended(report, [&](const ContendedSample&) { ADD_FAILURE(); });
}

TEST(Contention, IsInTheBinsInWhichItWas) {
  const analysis::Report report = reportOfTwoRivals();
  MadeSwitches made;
  for (uint32_t thread = 0; thread < kRivals; ++thread)
    made.start(0, 100, 101 + thread).in(0, 101 + thread, thread);
  for (uint32_t thread = 0; thread < kRivals; ++thread) made.end(200, 101 + thread);
  const Schedule schedule = made.schedule({.bins = 2}, &report);
  for (const uint32_t tid : {101u, 102u}) {
    const ThreadSchedule thread = threadOf(schedule, tid);
    ASSERT_TRUE(thread.contended);
    EXPECT_NEAR(*thread.contended, 50.0 * kPeriod, 0.5 * kPeriod);
    EXPECT_NEAR(thread.lane->contended.at(0), *thread.contended, 1);
    EXPECT_EQ(thread.lane->contended.at(1), 0);
  }
  EXPECT_EQ(threadOf(schedule, 103).contended, 0.0) << "measured, and none";

  ScheduleOptions late{.bins = 2};
  late.filter.from = 0.15;
  EXPECT_EQ(threadOf(made.schedule(late, &report), 101).contended, 0.0) << "before the window";
}

TEST(Contention, IsWholeNanosecondsInJson) {
  const analysis::Report report = reportOfTwoRivals();
  MadeSwitches made;
  made.start(0, 100, 101).in(0, 101, 0).end(200, 101);
  Schedule schedule = made.schedule({}, &report);
  ASSERT_EQ(schedule.threads.size(), 1u);
  schedule.threads[0].contended = 1234.6;
  EXPECT_NE(scheduleJson(schedule, "").find("\"contendedNs\":1235,"), std::string::npos);
}

TEST(Contention, IsNotKnownWithoutClockSamples) {
  const analysis::Report report = reportOfTwoRivals();
  perfdata::testing::RecordBuilder builder;
  perf_event_attr attr = perfdata::testing::clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
  attr.type = PERF_TYPE_RAW;
  builder.event(attr, "mem-loads").thread(kPid, 101).at(kBegin).raw(PERF_RECORD_SWITCH, 0, {}, true);
  builder.at(kBegin + 200 * kMs).raw(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, {}, true);
  const perfdata::testing::Bytes bytes = perfdata::testing::fileBytes(builder);
  const auto reader = perfdata::Reader::fromBytes(bytes, "FILE");
  const analysis::Timeline timeline = analysis::Timeline::of(*reader);
  const Schedule schedule = scheduleOf(*reader, timeline, {}, &report);
  EXPECT_FALSE(schedule.period);
  EXPECT_FALSE(threadOf(schedule, 101).contended);
}

}  // namespace
}  // namespace cacheline::scheduling::test
