// Looks at made-up processes whose threads run, move, begin and end between them.
#include "machine/process_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "machine_tree.h"

namespace cacheline::machine::test {
namespace {

using Clock = ProcessWatch::Clock;
using Ids = std::vector<pid_t>;
constexpr uint64_t kMs = 1'000'000;

Clock::time_point at(int64_t milliseconds) {
  return Clock::time_point(std::chrono::hours(1)) + std::chrono::milliseconds(milliseconds);
}

std::string pages(uint64_t node0, uint64_t node1) {
  return "1000 default heap anon=1 N0=" + std::to_string(node0) + " N1=" + std::to_string(node1) +
         " kernelpagesize_kB=4\n";
}

/// A machine of two nodes with two cores each (CPUs 0, 1, 4, 5 and 2, 3, 6, 7), and a watch of process 40.
class WatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    tree_.makeMachine(2, 2);
    topology_ = readTopology(tree_.roots().sysfs);
  }
  ProcessWatch watch() { return {tree_.roots(), topology_, {}, at(0)}; }
  static const ThreadPlace& thread(const Placement& placement, pid_t tid) {
    for (const ThreadPlace& place : placement.threads)
      if (place.tid == tid) return place;
    static const ThreadPlace none;
    ADD_FAILURE() << "there is no thread " << tid;
    return none;
  }
  MachineTree tree_;
  Topology topology_;
};

TEST_F(WatchTest, CountsWhatRunsFromTheFirstLookOn) {
  tree_.setProcess(40, {{40, 1000 * kMs, 0}, {41, 500 * kMs, 2}}, pages(1, 0));
  ProcessWatch watch = this->watch();
  watch.follow(40, false);
  watch.lookAtThreads(at(0));
  tree_.setProcess(40, {{40, 1010 * kMs, 0}, {41, 530 * kMs, 2}}, pages(1, 0));
  watch.lookAtThreads(at(10));
  tree_.setProcess(40, {{40, 1010 * kMs, 5}, {41, 540 * kMs, 1}}, pages(1, 0));  // 41 moved
  watch.lookAtThreads(at(20));
  const Placement placement = watch.placement();
  EXPECT_DOUBLE_EQ(placement.seconds, 0.02);
  EXPECT_EQ(placement.threadLooks, 3u);
  ASSERT_EQ(placement.threads.size(), 2u);
  EXPECT_EQ(placement.threads[0].tid, 41);  // it ran most
  EXPECT_EQ(placement.threads[0].ran, (CpuTimes{{1, 10 * kMs}, {2, 30 * kMs}}));
  EXPECT_EQ(placement.threads[1].ran, (CpuTimes{{0, 10 * kMs}}));
  EXPECT_EQ(timesByNode(placement.threads[0].ran, topology_),
            (std::map<uint32_t, uint64_t>{{0, 10 * kMs}, {1, 30 * kMs}}));
  EXPECT_EQ(placement.threads[0].name, "worker");
  EXPECT_EQ(placement.processes[0].name, "server");
  EXPECT_EQ(placement.processes[0].missedNs, 0u);
}

TEST_F(WatchTest, AThreadThatComesLaterRanAllItsTimeMeanwhile) {
  tree_.setProcess(40, {{40, 100 * kMs, 0}}, "");
  ProcessWatch watch = this->watch();
  watch.follow(40, false);
  watch.lookAtThreads(at(0));
  tree_.setProcess(40, {{40, 100 * kMs, 0}, {45, 7 * kMs, 3, "new (x) "}}, "");
  watch.lookAtThreads(at(10));
  tree_.setProcess(40, {{40, 100 * kMs, 0}}, "", 507 * kMs);  // 45 ended, and others came and went
  watch.lookAtThreads(at(20));
  const Placement placement = watch.placement();
  EXPECT_EQ(thread(placement, 45).ran, (CpuTimes{{3, 7 * kMs}}));
  EXPECT_EQ(thread(placement, 45).name, "new (x) ");
  EXPECT_TRUE(thread(placement, 40).ran.empty());
  EXPECT_NEAR(static_cast<double>(placement.processes[0].missedNs), 500 * kMs, 20 * kMs);
}

TEST_F(WatchTest, OfAProgramAllTimeCounts) {
  tree_.setProcess(40, {{40, 30 * kMs, 2}}, "");
  ProcessWatch watch = this->watch();
  watch.follow(40, true);
  watch.lookAtThreads(at(0));
  EXPECT_EQ(thread(watch.placement(), 40).ran, (CpuTimes{{2, 30 * kMs}}));
}

TEST_F(WatchTest, WithoutSchedstatItTakesClockTicks) {
  tree_.setProcess(40, {{40, 0, 1}}, "");
  tree_.write("proc/40/task/40/schedstat", "0 0 0\n");
  ProcessWatch watch = this->watch();
  watch.follow(40, false);
  watch.lookAtThreads(at(0));
  tree_.setProcess(40, {{40, 250 * kMs, 1}}, "");
  tree_.remove("proc/40/task/40/schedstat");
  watch.lookAtThreads(at(300));
  EXPECT_EQ(thread(watch.placement(), 40).ran, (CpuTimes{{1, 250 * kMs}}));
}

TEST_F(WatchTest, EndsWithTheProcessAndKnowsAnotherOneOfItsId) {
  tree_.setProcess(40, {{40, 0, 1}}, pages(10, 90));
  ProcessWatch watch = this->watch();
  watch.follow(40, false);
  watch.follow(41, false);  // is not there
  watch.lookAtThreads(at(0));
  watch.lookAtMemory(at(0));
  EXPECT_FALSE(watch.ended());
  std::string stat = "40 (other) R 1 1 1 0 -1 0 0 0 0 0 9 9 0 0 20 0 1 0 777";
  for (int field = 23; field <= 38; field++) stat += " 0";
  tree_.write("proc/40/stat", stat + " 1 0 0\n");
  watch.lookAtThreads(at(10));
  EXPECT_TRUE(watch.ended());
  EXPECT_EQ(watch.placement().processes[0].name, "server");
  tree_.remove("proc/40");
  watch.lookAtThreads(at(20));
  watch.lookAtMemory(at(20));
  ASSERT_TRUE(watch.placement().memory) << "what was seen stands";
  EXPECT_EQ(bytesOf(watch.placement().memory->at(1)), 90u * 4096);
}

TEST_F(WatchTest, KeepsTheLookWithMostMemoryAndAllOfThemOverTime) {
  tree_.setProcess(40, {{40, 0, 1}}, pages(10, 0));
  tree_.setProcess(50, {{50, 0, 1}}, pages(0, 5));
  ProcessWatch watch = this->watch();
  watch.follow(40, true);
  watch.follow(50, true);
  watch.lookAtMemory(at(0));
  tree_.setProcess(40, {{40, 0, 1}}, pages(100, 20));
  watch.lookAtMemory(at(60));
  tree_.setProcess(40, {{40, 0, 1}}, pages(1, 1));
  watch.lookAtMemory(at(170));
  const Placement placement = watch.placement();
  EXPECT_EQ(bytesOf(placement.memory->at(0)), 100u * 4096);
  EXPECT_EQ(bytesOf(placement.memory->at(1)), 25u * 4096);
  EXPECT_DOUBLE_EQ(placement.binSeconds, 0.05);
  ASSERT_EQ(placement.bins.size(), 4u);
  EXPECT_EQ(bytesOf(*placement.bins[0].memory), 15u * 4096);
  EXPECT_EQ(bytesOf(*placement.bins[1].memory), 125u * 4096);
  EXPECT_FALSE(placement.bins[2].memory);
  EXPECT_EQ(bytesOf(*placement.bins[3].memory), 7u * 4096);
  EXPECT_EQ(placement.memoryReason, "");
  EXPECT_EQ(placement.processes[0].command, (std::vector<std::string>{"./server", "--threads", "two words"}));
  EXPECT_EQ(placement.processes[0].allowedNodes, (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST_F(WatchTest, StretchesOfTimeBecomeLongerWhereTheyAreManyAndLoseNothing) {
  tree_.setProcess(40, {{40, 0, 1}}, pages(1, 0));
  ProcessWatch watch = this->watch();
  watch.follow(40, true);
  for (int second = 0; second < 70; second++) {
    // On CPU 0 for 35 s, then on CPU 3.
    tree_.setProcess(40, {{40, static_cast<uint64_t>(second) * 1000 * kMs, second < 35 ? 0u : 3u}},
                     pages(1, 0));
    watch.lookAtThreads(at(second * 1000));
    watch.lookAtMemory(at(second * 1000));
  }
  const Placement placement = watch.placement();
  EXPECT_LE(placement.bins.size(), ProcessWatch::kMostBins);
  EXPECT_GT(placement.bins.size(), ProcessWatch::kMostBins / 2 - 2);
  const ThreadPlace& place = thread(placement, 40);
  EXPECT_EQ(place.ran, (CpuTimes{{0, 34'000 * kMs}, {3, 35'000 * kMs}}));
  ASSERT_EQ(place.cpuOverTime.size(), placement.bins.size());
  EXPECT_EQ(place.cpuOverTime.front(), 0u);
  EXPECT_EQ(place.cpuOverTime.back(), 3u);
  for (const TimeBin& bin : placement.bins) EXPECT_TRUE(bin.memory);
}

TEST_F(WatchTest, TimeSinceALookLongAgoIsSpreadOverTheStretchesSince) {
  tree_.setProcess(40, {{40, 0, 1}}, "");
  ProcessWatch watch = this->watch();
  watch.follow(40, false);
  watch.lookAtThreads(at(60));
  tree_.setProcess(40, {{40, 101 * kMs, 2}}, "");
  watch.lookAtThreads(at(260));
  tree_.setProcess(40, {{40, 111 * kMs, 3}}, "");
  watch.lookAtThreads(at(270));
  using Cpus = std::vector<std::optional<uint32_t>>;
  const std::optional<uint32_t> none;
  EXPECT_EQ(thread(watch.placement(), 40).cpuOverTime, (Cpus{none, none, 2, 2, 2, 2}));
  EXPECT_EQ(thread(watch.placement(), 40).ran, (CpuTimes{{2, 101 * kMs}, {3, 10 * kMs}}));
}

TEST_F(WatchTest, VeryManyThreadsThatEndedAreASum) {
  ProcessWatch watch = this->watch();
  constexpr int kThreads = static_cast<int>(ProcessWatch::kMostThreads) + 50;
  std::vector<MachineTree::Thread> threads;
  for (int i = 0; i < kThreads; i++) threads.push_back({100 + i, static_cast<uint64_t>(i + 1) * kMs, 2});
  tree_.setProcess(40, threads, "");
  watch.follow(40, true);
  watch.lookAtThreads(at(0));
  EXPECT_EQ(watch.placement().threads.size(), static_cast<size_t>(kThreads)) << "they are alive";
  tree_.setProcess(40, {{40, kMs, 0}}, "");
  watch.lookAtThreads(at(10));
  const Placement placement = watch.placement();
  EXPECT_LE(placement.threads.size(), ProcessWatch::kMostThreads);
  EXPECT_EQ(placement.threads.size() + placement.unlistedThreads, static_cast<size_t>(kThreads) + 1);
  EXPECT_EQ(placement.threads[0].tid, 100 + kThreads - 1) << "those that ran most stay";
  uint64_t sum = sumOf(placement.unlisted);
  for (const ThreadPlace& place : placement.threads) sum += sumOf(place.ran);
  EXPECT_EQ(sum, uint64_t{kThreads} * (kThreads + 1) / 2 * kMs + kMs);
}

TEST_F(WatchTest, LooksInTimeAndForLittle) {
  tree_.setProcess(40, {{40, 0, 1}}, pages(1, 0));
  ProcessWatch watch = this->watch();
  watch.follow(40, false);
  watch.tick(at(0));
  EXPECT_EQ(watch.placement().threadLooks, 1u);
  EXPECT_EQ(watch.placement().memoryLooks, 1u);
  EXPECT_GE(watch.next(), at(10));
  watch.tick(at(5));
  EXPECT_EQ(watch.placement().threadLooks, 1u) << "not yet";

  ProcessWatch few(tree_.roots(), topology_,
                   {std::chrono::milliseconds(200), std::chrono::milliseconds(200), true}, at(0));
  few.follow(40, false);
  for (int time = 0; time <= 100'000; time += 100) few.tick(at(time));
  EXPECT_LE(few.placement().threadLooks, 10u);
  EXPECT_GE(few.placement().threadLooks, 6u);
  EXPECT_LE(few.placement().memoryLooks, 10u);
}

TEST(ProcessWatch, OfThisProcessFindsABusyThread) {
  const Topology topology = readTopology("/sys");
  std::atomic<bool> stop{false};
  std::atomic<pid_t> id{0};
  std::thread busy([&] {
    id = ::gettid();
    while (!stop) {
    }
  });
  while (id == 0) std::this_thread::yield();
  ProcessWatch watch({}, topology, {}, Clock::now());
  watch.follow(::getpid(), false);
  const auto end = Clock::now() + std::chrono::milliseconds(500);
  while (Clock::now() < end) {
    watch.tick(Clock::now());
    std::this_thread::sleep_until(watch.next());
  }
  watch.lookAtThreads(Clock::now());
  stop = true;
  busy.join();
  const Placement placement = watch.placement();
  ASSERT_FALSE(placement.threads.empty());
  EXPECT_EQ(placement.threads[0].tid, id);
  EXPECT_GT(sumOf(placement.threads[0].ran), 50 * kMs);
  EXPECT_LT(sumOf(placement.threads[0].ran), 700 * kMs);
  for (const auto& [cpu, ns] : placement.threads[0].ran) EXPECT_TRUE(topology.nodeOf(cpu)) << cpu;
  EXPECT_GT(placement.threadLooks, 3u);
  ASSERT_TRUE(placement.memory) << placement.memoryReason;
  EXPECT_GT(bytesOf(*placement.memory), 100'000u);
}

TEST(TaskFiles, NamesMayHoldAnything) {
  std::string line = "7 (a) R (b) S 1 1 1 0 -1 2097152 0 0 0 0 150 50 0 0 20 0 1 0 4711";
  for (int field = 23; field <= 38; field++) line += " 0";
  const auto stat = parseTaskStat(line + " 3 0 0");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "a) R (b");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->cpuNs, 2'000'000'000u);
  EXPECT_EQ(stat->startTicks, 4711u);
  EXPECT_EQ(stat->cpu, 3u);
  EXPECT_TRUE(stat->kernelThread);
}

TEST(TaskFiles, WhatIsCutOrMalformedIsNothing) {
  for (const char* text : {"", "7 (a", "7 a) R", ")(", "7 (a) R 1 1", "7 (a) RR 1 1 1 0 -1 0 0 0 0 0 1 1"})
    EXPECT_FALSE(parseTaskStat(text)) << text;
  EXPECT_EQ(parseSchedstat("12 0 1\n"), 12u);
  EXPECT_EQ(parseSchedstat("0 5 1"), 0u);
  for (const char* text : {"", "0 0 0", "12", "12 0", "x 0 1", "-1 0 1"})
    EXPECT_FALSE(parseSchedstat(text)) << text;
}

}  // namespace
}  // namespace cacheline::machine::test
