// What threads did, by made records with a known truth.
#include "scheduling/schedule.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"
#include "made_switches.h"

namespace cacheline::scheduling::test {
using analysis::Activity;

namespace {

uint64_t sum(const std::vector<uint64_t>& bins) {
  return std::accumulate(bins.begin(), bins.end(), uint64_t{0});
}

const std::vector<uint64_t>& binsOf(const ThreadSchedule& thread, Activity activity) {
  return thread.lane->activities[static_cast<size_t>(activity)];
}

TEST(Schedule, TimesOfAThreadFromItsStartToItsEnd) {
  MadeSwitches made;
  made.exec(0, 100).start(10, 100, 101).blocks(20, 100);
  made.in(15, 101, 1).preempted(25, 101, 1).in(30, 101, 1).blocks(50, 101, 1).in(90, 101, 1).end(95, 101);
  made.in(96, 100).end(100, 100);
  const Schedule schedule = made.schedule();
  EXPECT_EQ(schedule.basis, Basis::switches);
  EXPECT_EQ(schedule.from, 0u);
  EXPECT_EQ(schedule.span, 100 * kMs);
  const ThreadSchedule worker = threadOf(schedule, 101);
  EXPECT_EQ(worker.first, 10 * kMs);
  EXPECT_EQ(worker.last, 95 * kMs);
  EXPECT_EQ(worker.running, (10 + 20 + 5) * kMs);
  EXPECT_EQ(worker.runnable, (5 + 5) * kMs) << "before its first time on a CPU, and preempted";
  EXPECT_EQ(worker.blocked, 40 * kMs);
  EXPECT_EQ(worker.unknown, 0u);
  EXPECT_EQ(worker.switches, 2u);
  EXPECT_EQ(worker.preempted, 1u);
  EXPECT_EQ(worker.migrations, 0u);
  EXPECT_FALSE(worker.contended);
  const ThreadSchedule main = threadOf(schedule, 100);
  EXPECT_EQ(main.running, (20 + 4) * kMs);
  EXPECT_EQ(main.blocked, 76 * kMs);
  EXPECT_EQ(main.comm, "program");
  ASSERT_EQ(schedule.cpus.size(), 2u);
  EXPECT_EQ(schedule.cpus[0].running, 24 * kMs);
  EXPECT_EQ(schedule.cpus[1].running, 35 * kMs);
  EXPECT_EQ(schedule.cpus[1].threads, 1u);
  EXPECT_EQ(schedule.cpus[1].switches, 2u);
  EXPECT_EQ(schedule.threads[0].tid, 101u) << "the longest running first";
}

TEST(Schedule, ThreadsMoveBetweenCpus) {
  MadeSwitches made;
  made.start(0, 100, 101).in(0, 101, 0).blocks(10, 101, 0).in(20, 101, 1).preempted(30, 101, 1);
  made.in(31, 101, 1).blocks(35, 101, 1).in(40, 101, 0).end(60, 101);
  const ThreadSchedule thread = threadOf(made.schedule(), 101);
  EXPECT_EQ(thread.migrations, 2u);
  ASSERT_TRUE(thread.lane);
  EXPECT_EQ(std::accumulate(thread.lane->migrations.begin(), thread.lane->migrations.end(), uint64_t{0}), 2u);
  ASSERT_EQ(thread.cpus.size(), 2u);
  EXPECT_EQ(thread.cpus[0].cpu, 0u);
  EXPECT_EQ(thread.cpus[0].running, 30 * kMs);
  EXPECT_EQ(thread.cpus[1].running, 14 * kMs);
}

TEST(Schedule, BinsHoldWhatHappenedInThem) {
  MadeSwitches made;
  made.exec(0, 100).blocks(25, 100).in(75, 100).end(100, 100);
  const Schedule schedule = made.schedule({.bins = 10});
  const ThreadSchedule thread = threadOf(schedule, 100);
  ASSERT_TRUE(thread.lane);
  const std::vector<uint64_t> running = {10, 10, 5, 0, 0, 0, 0, 5, 10, 10};
  const std::vector<uint64_t> blocked = {0, 0, 5, 10, 10, 10, 10, 5, 0, 0};
  for (size_t bin = 0; bin < running.size(); ++bin) {
    EXPECT_EQ(binsOf(thread, Activity::running)[bin], running[bin] * kMs) << bin;
    EXPECT_EQ(binsOf(thread, Activity::blocked)[bin], blocked[bin] * kMs) << bin;
  }
  EXPECT_EQ(schedule.cpus.at(0).bins, binsOf(thread, Activity::running));
}

TEST(Schedule, BinsAddUpHoweverManyThereAre) {
  MadeSwitches made;
  made.exec(0, 100);
  for (uint64_t ms = 1; ms < 97; ms += 3) made.blocks(ms, 100).in(ms + 1, 100);
  made.end(97, 100);
  for (const size_t bins : {1, 7, 60, 97, 1000}) {
    const ThreadSchedule thread = threadOf(made.schedule({.bins = bins}), 100);
    ASSERT_TRUE(thread.lane);
    EXPECT_EQ(binsOf(thread, Activity::running).size(), bins);
    EXPECT_EQ(sum(binsOf(thread, Activity::running)), thread.running) << bins;
    EXPECT_EQ(sum(binsOf(thread, Activity::blocked)), thread.blocked) << bins;
    EXPECT_EQ(thread.running + *thread.blocked, 97 * kMs);
  }
}

TEST(Schedule, WhatWasThereBeforeTheRecording) {
  MadeSwitches made;
  made.sample(0, 100).blocks(10, 101, 1).in(30, 102, 1).end(40, 102).end(50, 101);
  const Schedule schedule = made.schedule();
  EXPECT_EQ(threadOf(schedule, 101).running, 10 * kMs) << "it ran until it left its CPU";
  EXPECT_EQ(threadOf(schedule, 101).unknown, 40 * kMs)
      << "a thread ends on a CPU: how it came there is missing";
  EXPECT_EQ(threadOf(schedule, 102).unknown, 30 * kMs) << "off its CPU, and nothing says why";
  EXPECT_EQ(threadOf(schedule, 102).running, 10 * kMs);
  EXPECT_EQ(threadOf(schedule, 100).running, 50 * kMs) << "never switched: it ran all the time";
  EXPECT_EQ(threadOf(schedule, 100).switches, 0u);
}

TEST(Schedule, WhatContradictsItselfIsUnknown) {
  MadeSwitches twiceIn;
  twiceIn.exec(0, 100).blocks(10, 100).in(20, 100).in(50, 100).end(60, 100);
  ThreadSchedule thread = threadOf(twiceIn.schedule(), 100);
  EXPECT_EQ(thread.running, 20 * kMs);
  EXPECT_EQ(thread.unknown, 30 * kMs);
  EXPECT_EQ(thread.blocked, 10 * kMs);

  MadeSwitches twiceOut;
  twiceOut.exec(0, 100).blocks(10, 100).blocks(40, 100).in(50, 100).end(60, 100);
  thread = threadOf(twiceOut.schedule(), 100);
  EXPECT_EQ(thread.running, 20 * kMs);
  EXPECT_EQ(thread.unknown, 30 * kMs);
  EXPECT_EQ(thread.blocked, 10 * kMs);

  MadeSwitches sampledWhileOff;
  sampledWhileOff.exec(0, 100).blocks(10, 100).sample(25, 100).end(60, 100);
  thread = threadOf(sampledWhileOff.schedule(), 100);
  EXPECT_EQ(thread.running, 45 * kMs);
  EXPECT_EQ(thread.unknown, 15 * kMs);

  MadeSwitches onAnotherCpu;
  onAnotherCpu.exec(0, 100).blocks(10, 100, 0).in(20, 100, 0).sample(30, 100, 1).end(40, 100);
  thread = threadOf(onAnotherCpu.schedule(), 100);
  EXPECT_EQ(thread.running, 20 * kMs);
  EXPECT_EQ(thread.unknown, 10 * kMs);
}

TEST(Schedule, ThreadsOfOneNumberOneAfterTheOther) {
  MadeSwitches made;
  made.start(0, 100, 101).in(0, 101).end(10, 101).start(50, 100, 101).in(60, 101).end(80, 101);
  const ThreadSchedule thread = threadOf(made.schedule(), 101);
  EXPECT_EQ(thread.running, 30 * kMs);
  EXPECT_EQ(thread.runnable, 10 * kMs);
  EXPECT_EQ(thread.blocked, 0u) << "nobody was there in between";
  EXPECT_EQ(thread.unknown, 0u);

  MadeSwitches withoutEnd;
  withoutEnd.start(0, 100, 101).in(0, 101).blocks(10, 101).start(50, 100, 101).in(50, 101).end(80, 101);
  const ThreadSchedule second = threadOf(withoutEnd.schedule(), 101);
  EXPECT_EQ(second.running, 40 * kMs);
  EXPECT_EQ(second.unknown, 40 * kMs) << "the end of the first one is missing";
}

TEST(Schedule, WhatStillGoesOnEndsWithTheRecording) {
  MadeSwitches made;
  made.start(0, 100, 101).in(0, 101).start(0, 100, 102).in(0, 102, 1).blocks(30, 102, 1).sample(100, 101);
  const Schedule schedule = made.schedule();
  EXPECT_EQ(threadOf(schedule, 101).running, 100 * kMs);
  EXPECT_EQ(threadOf(schedule, 102).blocked, 70 * kMs);
}

TEST(Schedule, TimesThatGoBackTakeNothingAway) {
  MadeSwitches made;
  made.exec(0, 100).blocks(30, 100).in(20, 100);
  made.builder().finishedRound();
  made.builder().finishedRound();
  made.blocks(10, 100).in(40, 100).end(50, 100);
  made.builder().finishedRound();
  const Schedule schedule = made.schedule();
  const ThreadSchedule thread = threadOf(schedule, 100);
  EXPECT_LE(thread.running + *thread.blocked + *thread.runnable + thread.unknown, schedule.span);
  EXPECT_GT(thread.running, 0u);
}

TEST(Schedule, IdleThreadsAndThoseThatAreGoneAreNobody) {
  MadeSwitches made;
  made.exec(0, 100).blocks(10, 100).in(20, 100).end(30, 100);
  made.builder().thread(0, 0).cpu(0).at(kBegin + 10 * kMs).raw(PERF_RECORD_SWITCH, 0, {}, true);
  made.builder()
      .thread(~0u, ~0u)
      .at(kBegin + 30 * kMs)
      .raw(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, {}, true);
  EXPECT_EQ(made.schedule().threads.size(), 1u);
}

TEST(Schedule, OfTheWholeMachine) {
  MadeSwitches made;
  const auto wide = [&](uint64_t ms, uint32_t tid, uint16_t misc, uint32_t otherTid) {
    made.at(ms, tid).raw(PERF_RECORD_SWITCH_CPU_WIDE, misc,
                         perfdata::testing::ByteBuilder().put(kPid).put(otherTid).bytes(), true);
  };
  wide(0, 101, 0, 102);
  wide(10, 101, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 102);
  wide(10, 102, 0, 101);
  wide(25, 102, PERF_RECORD_MISC_SWITCH_OUT, 101);
  wide(25, 101, 0, 102);
  wide(30, 101, PERF_RECORD_MISC_SWITCH_OUT, 0);
  const Schedule schedule = made.schedule();
  EXPECT_EQ(threadOf(schedule, 101).running, 15 * kMs);
  EXPECT_EQ(threadOf(schedule, 101).runnable, 15 * kMs);
  EXPECT_EQ(threadOf(schedule, 102).running, 15 * kMs);
  EXPECT_EQ(threadOf(schedule, 102).unknown, 10 * kMs);
  EXPECT_EQ(schedule.cpus.at(0).running, 30 * kMs);
  EXPECT_EQ(schedule.cpus.at(0).threads, 2u);
}

TEST(Schedule, OnlyAWindow) {
  MadeSwitches made;
  // Windows begin with the first sample: 10 ms after the first record.
  made.exec(0, 100).sample(10, 100).blocks(30, 100).in(50, 100, 1).end(90, 100);
  ScheduleOptions options{.bins = 2};
  options.filter.from = 0.01;
  options.filter.to = 0.05;
  const Schedule schedule = made.schedule(options);
  EXPECT_EQ(schedule.from, 20 * kMs);
  EXPECT_EQ(schedule.span, 40 * kMs);
  const ThreadSchedule thread = threadOf(schedule, 100);
  EXPECT_EQ(thread.running, 20 * kMs);
  EXPECT_EQ(thread.blocked, 20 * kMs);
  EXPECT_EQ(thread.first, 0u);
  EXPECT_EQ(thread.last, 40 * kMs);
  EXPECT_EQ(thread.switches, 1u);
  EXPECT_EQ(thread.migrations, 1u);
  EXPECT_EQ(binsOf(thread, Activity::blocked), (std::vector<uint64_t>{10 * kMs, 10 * kMs}));

  options.filter.from = 5;
  options.filter.to = 6;
  EXPECT_TRUE(made.schedule(options).threads.empty());
}

TEST(Schedule, OnlySomeThreads) {
  MadeSwitches made;
  made.exec(0, 100).start(0, 100, 101).in(10, 101, 1).end(20, 101).end(20, 100);
  ScheduleOptions options;
  options.filter.tids = {101};
  EXPECT_EQ(made.schedule(options).threads.size(), 1u);
  EXPECT_EQ(made.schedule(options).cpus.size(), 1u);
  options.filter.tids = {};
  options.filter.notTids = {101};
  EXPECT_EQ(made.schedule(options).threads.at(0).tid, 100u);
  options.filter.notTids = {};
  options.filter.pids = {1};
  EXPECT_TRUE(made.schedule(options).threads.empty());
  options.filter.pids = {};
  options.filter.none = true;
  EXPECT_TRUE(made.schedule(options).threads.empty());
  options.filter.none = false;
  options.filter.cpus = {1};
  EXPECT_THROW(made.schedule(options), Error);
}

TEST(Schedule, WithoutSwitchesSamplesAreCounted) {
  MadeSwitches made;
  for (uint64_t ms = 2; ms <= 100; ms += 2) made.sample(ms, ms <= 50 ? 100 : 101, 3);
  const Schedule schedule = made.schedule({.bins = 4});
  EXPECT_EQ(schedule.basis, Basis::samples);
  EXPECT_EQ(schedule.period, kPeriod);
  const ThreadSchedule thread = threadOf(schedule, 101);
  EXPECT_EQ(thread.running, 25 * kPeriod);
  EXPECT_FALSE(thread.blocked);
  EXPECT_FALSE(thread.runnable);
  EXPECT_FALSE(thread.switches);
  EXPECT_FALSE(thread.migrations);
  EXPECT_EQ(sum(binsOf(thread, Activity::running)), thread.running);
  EXPECT_EQ(schedule.cpus.at(0).cpu, 3u);
  EXPECT_FALSE(schedule.cpus.at(0).switches);
}

TEST(Schedule, ASampleThatCameLateStandsForMore) {
  MadeSwitches made;
  made.sample(10, 100);  // the first record of all
  made.at(50, 100).sample({.ip = 0x1000, .period = 3 * kPeriod});
  const Schedule schedule = made.schedule();
  EXPECT_EQ(threadOf(schedule, 100).running, 3 * kPeriod)
      << "what the first one stands for was before the first record";
  EXPECT_EQ(schedule.period, 2 * kPeriod);
}

TEST(Schedule, ARecordingWithoutEitherSaysSo) {
  perfdata::testing::RecordBuilder builder;
  perf_event_attr attr = perfdata::testing::clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
  attr.type = PERF_TYPE_HARDWARE;
  attr.config = PERF_COUNT_HW_CPU_CYCLES;
  builder.event(attr, "cycles").thread(1, 1).at(5).sample({.ip = 1});
  const perfdata::testing::Bytes bytes = perfdata::testing::fileBytes(builder);
  const auto reader = perfdata::Reader::fromBytes(bytes, "FILE");
  const analysis::Timeline timeline = analysis::Timeline::of(*reader);
  try {
    scheduleOf(*reader, timeline, {}, nullptr);
    FAIL() << "it was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unreadable);
    EXPECT_NE(std::string(error.what()).find("neither context switches nor samples of a clock"),
              std::string::npos);
  }
}

TEST(Schedule, CpusThatAreNotRecordedAreNotNamed) {
  perfdata::testing::RecordBuilder builder;
  builder.event(perfdata::testing::clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME),
                "cpu-clock");
  builder.thread(1, 2).at(10).raw(PERF_RECORD_SWITCH, 0, {}, true);
  builder.at(30).raw(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, {}, true);
  const perfdata::testing::Bytes bytes = perfdata::testing::fileBytes(builder);
  const auto reader = perfdata::Reader::fromBytes(bytes, "FILE");
  const analysis::Timeline timeline = analysis::Timeline::of(*reader);
  const Schedule schedule = scheduleOf(*reader, timeline, {}, nullptr);
  EXPECT_TRUE(schedule.cpus.empty());
  EXPECT_FALSE(threadOf(schedule, 2).migrations);
  EXPECT_EQ(threadOf(schedule, 2).running, 20u);
}

TEST(Schedule, OfManyThreadsTheLongestRunningHaveLanes) {
  MadeSwitches made;
  constexpr uint32_t kThreads = kMostLanes + 50;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    made.start(0, 100, 1000 + thread).in(0, 1000 + thread, thread);
    made.end(1 + thread, 1000 + thread);
  }
  const Schedule schedule = made.schedule();
  ASSERT_EQ(schedule.threads.size(), kThreads);
  EXPECT_EQ(schedule.threads.front().tid, 1000 + kThreads - 1);
  for (size_t at = 0; at < schedule.threads.size(); ++at)
    EXPECT_EQ(schedule.threads[at].lane.has_value(), at < kMostLanes) << at;
}

TEST(Schedule, SwitchesWithoutATimeOrAThreadSayNothing) {
  MadeSwitches made;
  made.sample(10, 100);
  made.at(20, 100).raw(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, {});
  made.at(20, 100).raw(PERF_RECORD_SWITCH_CPU_WIDE, 0, perfdata::testing::Bytes(4, 1));
  made.sample(30, 100);
  EXPECT_EQ(made.schedule().basis, Basis::samples);
}

TEST(Schedule, LostRecordsAreCounted) {
  MadeSwitches made;
  made.exec(0, 100).blocks(10, 100).in(20, 100);
  made.at(25, 100).lost(7);
  made.end(30, 100);
  EXPECT_EQ(made.schedule().lost, 7u);
}

TEST(Schedule, AnEmptyRecordingHasNoThreads) {
  const Schedule schedule = MadeSwitches().schedule();
  EXPECT_EQ(schedule.basis, Basis::samples);
  EXPECT_TRUE(schedule.threads.empty());
  EXPECT_EQ(schedule.span, 0u);
}

TEST(Schedule, JsonOfHostileNames) {
  MadeSwitches made;
  made.at(0, 100).comm(std::string("a\"b\x1b\xff"), true);
  made.blocks(10, 100).in(20, 100).end(30, 100);
  const std::string json = scheduleJson(made.schedule({.bins = 3}), "");
  EXPECT_NE(json.find("\"schema\":\"cacheline-threads/1\",\"basis\":\"switches\",\"basisReason\":null"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"comm\":\"a\\\"b\\u001B\xEF\xBF\xBD\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"running\":[10000000,0,10000000],\"runnable\":[0,0,0],\"blocked\":[0,10000000,0]"),
            std::string::npos)
      << json;
}

}  // namespace
}  // namespace cacheline::scheduling::test
