// Filters on clock recordings: a filtered report is that of a recording which has only those samples.
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "base/error.h"
#include "scenario.h"
#include "sharing/analyze.h"

namespace cacheline::analysis {
namespace {

using namespace test;

constexpr uint64_t kHeapStart = 0x5000000;

struct Drawn {
  uint32_t pid = 0, tid = 0, cpu = 0;
  bool kernel = false;
  double seconds = 0;  ///< since the first sample
};
using Choice = std::function<bool(const Drawn&)>;

/// Two processes with three threads each, which add to, load and store a few lines of the heap and of a
/// shared mapping; now and then in the kernel. Only the chosen samples are recorded.
void record(Scenario& scenario, uint32_t seed, const Choice& chosen) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  for (const uint32_t pid : {100u, 200u}) {
    scenario.start(pid);
    scenario.anonymous(pid, kHeapStart, 0x10000, "[heap]");
    scenario.shared(pid, 0x7000000, 0x1000, 5, 0);
    scenario.thread(pid, pid + 1);
    scenario.thread(pid, pid + 2);
  }
  double seconds = 0;
  for (int i = 0; i < 600; ++i, seconds += static_cast<double>(Scenario::kUnit) / 1e9) {
    Drawn moment;
    moment.pid = below(2) == 0 ? 100 : 200;
    moment.tid = moment.pid + below(3);
    moment.cpu = below(6);
    moment.kernel = below(8) == 0;
    moment.seconds = seconds;
    const uint64_t address =
        (below(3) == 0 ? 0x7000000 : kHeapStart) + uint64_t{64} * below(4) + 8 * below(2);
    const uint32_t what = below(3);
    if (!chosen(moment)) {
      scenario.pass();
    } else if (moment.kernel) {
      scenario.sample(moment.pid, moment.tid, 0xffffffff81000000, {}, moment.cpu, PERF_RECORD_MISC_KERNEL);
    } else if (what == 0) {
      scenario.add(moment.pid, moment.tid, address, moment.cpu);
    } else if (what == 1) {
      scenario.load(moment.pid, moment.tid, address, moment.cpu);
    } else {
      scenario.store(moment.pid, moment.tid, address, moment.cpu);
    }
  }
}

Report analyzed(const std::string& folder, const sharing::Options& options) {
  const Recording recording = openRecording(folder);
  return sharing::analyze(*perfdata::Reader::open(recording.perfData), recording, options);
}

struct Case {
  const char* name;
  Filter filter;
  Choice chosen;
};

std::vector<Case> cases() {
  const auto isOf = [](uint32_t tid) { return [tid](const Drawn& moment) { return moment.tid == tid; }; };
  return {
      {"one thread", {.tids = {101}}, isOf(101)},
      {"two threads of two processes",
       {.tids = {101, 202}},
       [](const Drawn& moment) { return moment.tid == 101 || moment.tid == 202; }},
      {"a process", {.pids = {200}}, [](const Drawn& moment) { return moment.pid == 200; }},
      {"CPUs",
       {.cpus = {0, 3, 5}},
       [](const Drawn& moment) { return moment.cpu == 0 || moment.cpu == 3 || moment.cpu == 5; }},
      {"user mode", {.mode = Filter::Mode::user}, [](const Drawn& moment) { return !moment.kernel; }},
      {"kernel mode", {.mode = Filter::Mode::kernel}, [](const Drawn& moment) { return moment.kernel; }},
      {"a time window",
       {.from = 0.2995, .to = 0.7005},
       [](const Drawn& moment) { return moment.seconds > 0.2995 && moment.seconds < 0.7005; }},
      {"a window of one process's CPUs",
       {.from = 0.1995, .pids = {100}, .cpus = {1, 2}},
       [](const Drawn& moment) {
         return moment.seconds > 0.1995 && moment.pid == 100 && (moment.cpu == 1 || moment.cpu == 2);
       }},
      {"nobody", {.tids = {4711}}, [](const Drawn&) { return false; }},
  };
}

TEST(Filters, AFilteredReportIsThatOfTheSamplesThatAreLeft) {
  for (const uint32_t seed : {1u, 2u, 3u}) {
    Scenario whole;
    record(whole, seed, [](const Drawn&) { return true; });
    const std::string folder = whole.write();
    for (const Case& each : cases()) {
      Scenario part;
      record(part, seed, each.chosen);
      if (!each.filter.cpus.empty()) part.features().cmdline = {"perf", "record", "-C", "0-3"};
      for (const bool doubleLine : {false, true}) {
        SCOPED_TRACE(std::string(each.name) + ", seed " + std::to_string(seed));
        Report filtered =
            analyzed(folder, {.showAll = true, .doubleLine = doubleLine, .filter = each.filter});
        const Report fresh = analyzed(part.write(), {.showAll = true, .doubleLine = doubleLine});
        ASSERT_TRUE(filtered.filtered);
        EXPECT_EQ(*filtered.filtered, 600 - fresh.samples);
        expectTotals(filtered);
        filtered.filtered.reset();
        EXPECT_EQ(reportJson(filtered), reportJson(fresh));
      }
    }
  }
}

TEST(Filters, CompetitionIsAmongTheSamplesThatAreLeft) {
  Scenario s;
  s.start(100);
  s.anonymous(100, kHeapStart, 0x1000, "[heap]");
  s.thread(100, 101);
  for (int i = 0; i < 40; ++i) {
    s.add(100, 100, kHeapStart);
    s.add(100, 101, kHeapStart + 8);
  }
  const std::string folder = s.write();
  const Report all = analyzed(folder, {});
  ASSERT_EQ(all.lines.size(), 1u);
  EXPECT_EQ(all.lines[0].verdict, Verdict::falseSharing);
  EXPECT_FALSE(all.filtered);
  const Report one = analyzed(folder, {.filter = {.tids = {101}}});
  EXPECT_TRUE(one.lines.empty());
  EXPECT_EQ(one.contended, 0u);
  EXPECT_EQ(one.filtered, 40u);
}

TEST(Filters, PairsOfLinesMeetWhatLiesOnNeighbours) {
  Scenario s;
  s.start(100);
  s.anonymous(100, kHeapStart, 0x1000, "[heap]");
  s.thread(100, 101);
  for (int i = 0; i < 40; ++i) {
    s.add(100, 100, kHeapStart);
    s.add(100, 101, kHeapStart + 64);
  }
  const std::string folder = s.write();
  EXPECT_TRUE(analyzed(folder, {}).lines.empty());
  const Report pairs = analyzed(folder, {.doubleLine = true});
  ASSERT_EQ(pairs.lines.size(), 1u);
  EXPECT_EQ(pairs.lines[0].verdict, Verdict::falseSharing);
  EXPECT_EQ(pairs.lineSize, 64u);
  EXPECT_TRUE(pairs.doubleLine);
  EXPECT_EQ(pairs.lines[0].accesses.size(), 2u);
  EXPECT_EQ(pairs.lines[0].accesses[1].offset, 64u);
  EXPECT_TRUE(pairs.lines[0].flags.empty());
}

Line onlyLine(const std::string& folder, const sharing::Options& options) {
  const Report report = analyzed(folder, options);
  EXPECT_EQ(report.lines.size(), 1u);
  return report.lines.empty() ? Line() : report.lines[0];
}

/// Threads that add to and load words of one line.
std::string coalesced() {
  static Scenario scenario;
  static const std::string folder = [] {
    scenario.start(100);
    scenario.anonymous(100, kHeapStart, 0x1000, "[heap]");
    for (uint32_t tid = 101; tid < 104; ++tid) scenario.thread(100, tid);
    std::mt19937 random(7);
    for (int i = 0; i < 400; ++i) {
      const auto tid = static_cast<uint32_t>(100 + random() % 4);
      const uint64_t word = kHeapStart + 8 * (random() % 2);
      if (random() % 2 == 0)
        scenario.add(100, tid, word);
      else
        scenario.load(100, tid, word);
    }
    return scenario.write();
  }();
  return folder;
}

uint64_t sumOf(const Line& line, uint64_t Access::*of) {
  uint64_t sum = 0;
  for (const Access& access : line.accesses) sum += access.*of;
  return sum;
}

TEST(Coalesce, RowsOfThreadsAddUpToThoseOfCode) {
  const Line code = onlyLine(coalesced(), {});
  const Line threads = onlyLine(coalesced(), {.coalesce = {.tid = true}});
  ASSERT_EQ(code.accesses.size(), 4u);
  ASSERT_EQ(threads.accesses.size(), 16u);
  EXPECT_EQ(threads.verdict, code.verdict);
  EXPECT_EQ(threads.records, code.records);
  EXPECT_EQ(sumOf(threads, &Access::records), sumOf(code, &Access::records));
  EXPECT_NEAR(static_cast<double>(sumOf(threads, &Access::contended)),
              static_cast<double>(sumOf(code, &Access::contended)), 8);
  for (const Access& access : threads.accesses) {
    EXPECT_EQ(access.threads.size(), 1u);
    EXPECT_TRUE(access.falseShare);
  }
  for (const Victim& victim : threads.victims) {
    if (victim.access) {
      EXPECT_LT(*victim.access, threads.accesses.size());
    }
  }
}

TEST(Coalesce, WithoutCodeARowIsAnOffset) {
  const Line code = onlyLine(coalesced(), {});
  for (const Coalesce& by : {Coalesce{.iaddr = false}, Coalesce{.pid = true, .iaddr = false},
                             Coalesce{.iaddr = false, .dso = true}}) {
    const Line offsets = onlyLine(coalesced(), {.coalesce = by});
    ASSERT_EQ(offsets.accesses.size(), 2u);
    EXPECT_EQ(offsets.verdict, code.verdict);
    EXPECT_EQ(offsets.contended, code.contended);
    EXPECT_EQ(sumOf(offsets, &Access::records), code.records);
    EXPECT_EQ(sumOf(offsets, &Access::contended), sumOf(code, &Access::contended));
    for (const Access& access : offsets.accesses) {
      EXPECT_EQ(access.width, 8u);
      EXPECT_TRUE(access.locked);
      EXPECT_GT(access.loads, 0u);
      EXPECT_GT(access.stores, 0u);
      EXPECT_EQ(access.threads.size(), 4u);
    }
  }
}

TEST(Filters, PairsOfTheLargestLinesAreNotSupported) {
  Scenario s;
  s.metaJson = R"({"collector":"clock","machine":{"lineSize":256}})";
  s.start(100);
  s.add(100, 100, kData);
  const std::string folder = s.write();
  EXPECT_THROW(analyzed(folder, {.doubleLine = true}), Error);
}

}  // namespace
}  // namespace cacheline::analysis
