// What watchpoints add to a report: rows, confirmations, and lines that no sample shows.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/watch_log.h"
#include "analysis/watch_verdict.h"
#include "scenario.h"
#include "watch_files.h"

namespace cacheline::analysis {
namespace {

using namespace test;

/// With the two instructions that scenarios have in common.
class Watched : public WatchFiles {
 public:
  Watched& window(uint32_t pid, uint64_t start, uint64_t ms,
                  const std::vector<std::pair<uint64_t, std::string>>& words) {
    WatchFiles::window(pid, start, ms, words);
    return *this;
  }
  /// `lock addq` at `address`.
  Watched& add(uint32_t pid, uint32_t tid, uint64_t address) {
    hit(pid, tid, kAfterAdd, address & ~uint64_t{7}, {{kRegDi, address}});
    return *this;
  }
  /// `movl (%rsi,%rcx,4), %eax`.
  Watched& load(uint32_t pid, uint32_t tid, uint64_t address) {
    hit(pid, tid, kLoad + 3, address & ~uint64_t{7}, {{kRegSi, address}, {kRegCx, 0}});
    return *this;
  }
  Report report(Scenario& scenario, bool showAll = false) {
    const std::string folder = scenario.write();
    write(folder);
    return analyzeAt(folder, showAll);
  }
};

struct TwoWriters : Scenario {
  TwoWriters() {
    start(100);
    thread(100, 101);
    for (int i = 0; i < 30; ++i) {
      add(100, 100, kData, 0);
      store(100, 101, kData + 8, 1);
    }
  }
};

constexpr uint64_t kInside = Scenario::kStart + 20 * Scenario::kUnit;

TEST(Watch, TurnsAtDifferentWordsConfirmFalseSharing) {
  TwoWriters s;
  Watched watched;
  watched.window(100, kInside, 5, {{kData, "counters[0]"}, {kData + 8, "counters[1]"}});
  for (int i = 0; i < 4; ++i) watched.add(100, 100, kData).add(100, 101, kData + 8);
  const Report report = watched.report(s);
  expectTotals(report);
  EXPECT_EQ(report.evidence, (std::vector<std::string>{"clock", "watch"}));
  EXPECT_EQ(report.samples, 60u) << "hits are no samples";
  ASSERT_EQ(report.lines.size(), 1u);
  const Line& line = report.lines[0];
  EXPECT_EQ(line.verdict, Verdict::falseSharing);
  ASSERT_TRUE(line.confirmation);
  EXPECT_TRUE(line.confirmation->confirmed);
  EXPECT_EQ(line.confirmation->sentence,
            "2 threads write 'counters[0]' and 'counters[1]' in turn: seen 7 times in 5.0 ms");
  EXPECT_EQ(line.confirmation->alternations, 7u);
  ASSERT_EQ(line.confirmation->words.size(), 2u);
  const ConfirmedWord& second = line.confirmation->words[1];
  EXPECT_EQ(second.offset, 8u);
  EXPECT_EQ(second.writes, 4u);
  EXPECT_EQ(second.reads, 0u);
  EXPECT_EQ(second.writers, std::vector<uint32_t>{101});
  EXPECT_DOUBLE_EQ(second.windowMs, 5);

  // The row of the samples has the hits of its instruction; the store's has none, though it was watched; the
  // other place of the locked add is a row of its own.
  ASSERT_EQ(line.accesses.size(), 3u);
  uint64_t records = 0;
  for (const Access& access : line.accesses) {
    records += access.records;
    ASSERT_TRUE(access.watch);
    if (access.records == 0) {
      EXPECT_EQ(access.offset, 8u);
      EXPECT_EQ(access.codeAddress, kAdd);
      EXPECT_TRUE(access.locked);
      EXPECT_EQ(access.watch->writes, 4u);
      EXPECT_EQ(access.watch->threads, std::vector<uint32_t>{101});
      EXPECT_EQ(access.data.object, "counters");
    } else if (access.codeAddress == kAdd) {
      EXPECT_EQ(access.watch->writes, 4u);
      EXPECT_EQ(access.watch->threads, std::vector<uint32_t>{100});
    } else {
      EXPECT_EQ(access.watch->writes + access.watch->reads + access.watch->unknown, 0u);
      EXPECT_DOUBLE_EQ(access.watch->windowMs, 5);
    }
  }
  EXPECT_EQ(records, 60u);
  const std::string json = reportJson(report);
  EXPECT_NE(json.find("\"evidence\":[\"clock\",\"watch\"]"), std::string::npos);
  EXPECT_NE(json.find("\"confirmation\":{\"confirmed\":true,"), std::string::npos);
}

TEST(Watch, WhatWasNotSeenIsNotRefuted) {
  TwoWriters s;
  Watched watched;
  watched.window(100, kInside, 12, {{kData, "a"}, {kData + 8, "b"}});
  for (int i = 0; i < 4; ++i) watched.add(100, 100, kData);
  const Report report = watched.report(s);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].verdict, Verdict::falseSharing);
  EXPECT_FALSE(report.lines[0].confirmation->confirmed);
  EXPECT_EQ(report.lines[0].confirmation->sentence, "only one thread was seen in 12 ms");
}

TEST(Watch, TurnsAcrossWindowsDoNotCount) {
  TwoWriters s;
  Watched watched;
  for (uint64_t i = 0; i < 6; ++i) {
    watched.window(100, kInside + i * 10 * kMs, 5, {{kData, "a"}, {kData + 8, "b"}});
    watched.add(100, 100 + i % 2, kData + 8 * (i % 2));
  }
  const Report report = watched.report(s);
  const Confirmation& confirmation = *report.lines.at(0).confirmation;
  EXPECT_FALSE(confirmation.confirmed);
  EXPECT_EQ(confirmation.alternations, 0u);
  EXPECT_EQ(confirmation.sentence, "no threads were seen taking turns in 30 ms");
}

TEST(Watch, ALineWithoutSamplesIsJudgedByItsHits) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  s.add(100, 100, kFar);
  Watched watched;
  watched.window(100, Scenario::kStart + Scenario::kUnit * 10, 5, {{kData, "counters"}});
  for (int i = 0; i < 3; ++i) watched.add(100, 100, kData).load(100, 101, kData + 4);
  for (int i = 0; i < 3; ++i) watched.add(100, 100, kData).load(100, 101, kData);
  const Report report = watched.report(s);
  expectTotals(report);
  EXPECT_EQ(report.linesLeftOut, 1u) << "the sampled line is private";
  ASSERT_EQ(report.lines.size(), 1u);
  const Line& line = report.lines[0];
  EXPECT_EQ(line.address, kData);
  EXPECT_EQ(line.verdict, Verdict::trueSharing);
  EXPECT_TRUE(line.confirmation->confirmed);
  EXPECT_EQ(line.records, 0u);
  EXPECT_EQ(line.threads.size(), 2u);
  ASSERT_EQ(line.accesses.size(), 3u) << "loads of two places";
  for (const Access& access : line.accesses) EXPECT_EQ(access.records, 0u);
  EXPECT_TRUE(report.objects.empty() || report.objects[0].records == 1u);
}

TEST(Watch, AWriterThatNoSampleSawMakesAPolledFlagContended) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  s.thread(100, 102);
  for (int i = 0; i < 30; ++i)
    for (const uint32_t tid : {100u, 101u}) s.sample(100, tid, kLoad + 3, {{kRegSi, kData}, {kRegCx, 0}});
  Watched watched, silent;
  for (Watched* files : {&watched, &silent}) files->window(100, kInside, 5, {{kData, "flag"}});
  for (int i = 0; i < 4; ++i) {
    watched.load(100, 100, kData).load(100, 101, kData).add(100, 102, kData);
    silent.load(100, 100, kData).load(100, 101, kData);
  }
  const Report report = watched.report(s);
  expectTotals(report);
  const Line& line = report.lines.at(0);
  EXPECT_EQ(line.verdict, Verdict::mixed) << "four of the eight bytes that are written are read";
  EXPECT_TRUE(line.confirmation->confirmed);
  EXPECT_EQ(line.contended, 60u);
  EXPECT_EQ(report.contended, 60u);
  const Report unwritten = silent.report(s);
  EXPECT_EQ(unwritten.lines.at(0).verdict, Verdict::readShared);
  EXPECT_EQ(unwritten.contended, 0u);
}

TEST(Watch, WhatTheCodeDoesNotSayIsNoRead) {
  Scenario s;
  s.start(100);
  s.thread(100, 101);
  s.add(100, 100, kFar);
  Watched watched;
  watched.window(100, Scenario::kStart + Scenario::kUnit * 10, 5, {{kData, "counters"}});
  for (int i = 0; i < 3; ++i) {
    watched.hit(100, 100, kNoOperand, kData, {{kRegDi, kData}});
    watched.load(100, 101, kData);
  }
  const Report report = watched.report(s);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_EQ(report.lines[0].verdict, Verdict::privateLine) << "nobody knows that nobody writes";
  EXPECT_EQ(report.lines[0].confirmation->sentence,
            "2 threads seen, but 3 of 6 accesses may or may not be writes, in 5.0 ms");
}

TEST(Watch, AThreadThatMayReadOrWriteIsNoReader) {
  TwoWriters s;
  Watched watched;
  watched.window(100, kInside, 5, {{kData, "a"}, {kData + 8, "b"}});
  for (int i = 0; i < 3; ++i) {
    watched.add(100, 100, kData);
    watched.hit(100, 101, kNoOperand, kData + 8, {{kRegDi, kData}});
  }
  const Confirmation confirmation = *watched.report(s).lines.at(0).confirmation;
  EXPECT_TRUE(confirmation.confirmed);
  EXPECT_EQ(confirmation.sentence,
            "1 thread writes and 1 reads or writes 'a' and 'b' in turn: seen 5 times in 5.0 ms");
}

TEST(Watch, AnAccessOfUnknownKindIsSaidToBe) {
  TwoWriters s;
  Watched watched;
  watched.window(100, kInside, 5, {{kData, "a"}});
  watched.hit(100, 100, kNoOperand, kData, {{kRegDi, kData}});
  const Report report = watched.report(s);
  const Line& line = report.lines.at(0);
  EXPECT_EQ(line.confirmation->words.at(0).unknown, 1u);
  const auto row = std::find_if(line.accesses.begin(), line.accesses.end(),
                                [](const Access& access) { return access.records == 0; });
  ASSERT_NE(row, line.accesses.end());
  EXPECT_EQ(row->codeAddress, kNoOperand);
  EXPECT_EQ(row->watch->unknown, 1u);
}

TEST(Watch, DamagedLogsAreWarnings) {
  WatchWindow window;
  EXPECT_FALSE(WatchLog::parseWindow("", window));
  EXPECT_FALSE(WatchLog::parseWindow("[]", window));
  const char* good =
      R"({"pid":1,"address":"0x10","length":8,"name":"x","start":5,"end":9,"watchedNs":99,"hits":1,"lost":0})";
  ASSERT_TRUE(WatchLog::parseWindow(good, window));
  EXPECT_EQ(window.watchedNs, 4u) << "no longer than the window";
  for (const auto& [what, with] : std::map<std::string, std::string>{{"\"0x10\"", "\"0x11\""},
                                                                     {"\"0x10\"", "\"ten\""},
                                                                     {"\"length\":8", "\"length\":16"},
                                                                     {"\"end\":9", "\"end\":2"},
                                                                     {"\"pid\":1", "\"pid\":-1"}}) {
    std::string bad = good;
    bad.replace(bad.find(what), what.size(), with);
    EXPECT_FALSE(WatchLog::parseWindow(bad, window)) << bad;
  }
  TwoWriters s;
  Watched watched;
  watched.window(100, kInside, 5, {{kData, "a"}}).add(100, 100, kData);
  watched.lines_ = "{\"pid\":" + watched.lines_.substr(0, 7) + "\n" + watched.lines_ + "{\"cut";
  const Report report = watched.report(s);
  EXPECT_EQ(report.lines.at(0).confirmation->words.size(), 1u);
  EXPECT_NE(
      std::find(report.warnings.begin(), report.warnings.end(), "1 lines of watch.jsonl cannot be read."),
      report.warnings.end());
}

}  // namespace
}  // namespace cacheline::analysis
