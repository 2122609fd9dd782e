// Arm SPE from a file to its report, against the decoder's own samples counted here.
#include "sharing/spe_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "sharing/analyze.h"
#include "sharing/data_source.h"
#include "spe/spe_recording.h"

namespace cacheline::sharing {
namespace {

using spe::testing::SpeBuilder;
using spe::testing::SpeRecording;

constexpr uint64_t kLine = 0x7f0000001040;

/// Two threads on two CPUs, each at its own word of one line; every fourth access is a store.
SpeRecording twoThreads() {
  SpeRecording recording;
  for (uint32_t cpu = 0; cpu < 2; ++cpu) {
    for (uint64_t piece = 0; piece < 4; ++piece) {
      SpeBuilder builder;
      for (uint64_t i = 0; i < 100; ++i) {
        const uint64_t ticks = 1000 + 2 * (100 * piece + i) + cpu;
        builder.pc(0x400100 + 4 * cpu, 0).context(100 + cpu).total(static_cast<uint16_t>(20 + i));
        if (i % 4 == 0)
          builder.store();
        else
          builder.load().dataSource(i % 4 == 1 ? 9 : 0);  // of a Neoverse N1: a peer core, the own L1
        builder.virtualAddress(kLine + 8 * cpu).physicalAddress(0x80001040 + 8 * cpu).timestamp(ticks);
      }
      std::vector<uint8_t> bytes = builder.bytes();
      bytes.resize((bytes.size() + 7) / 8 * 8);
      recording.pieces.push_back({cpu, recording.conversion.time(1000 + 200 * (piece + 1)), bytes});
    }
  }
  return recording;
}

uint64_t statistic(const std::vector<analysis::Statistic>& list, std::string_view name) {
  for (const auto& [item, number] : list)
    if (item == name) return number.value_or(UINT64_MAX);
  ADD_FAILURE() << "no statistic " << name;
  return 0;
}

analysis::Report reportOf(const SpeRecording& recording) {
  const perfdata::testing::TempFolder folder;
  recording.write(folder / "perf.data");
  const analysis::Recording opened = analysis::openRecording(folder / "perf.data");
  const auto reader = perfdata::Reader::open(opened.perfData);
  EXPECT_TRUE(isSpe(*reader));
  return analyze(*reader, opened, {});
}

TEST(SpeSource, EverySampleOfTheDecoderIsCounted) {
  const SpeRecording recording = twoThreads();
  Tally expected;
  spe::SpeSession session = recording.session();
  spe::SpeSample sample;
  while (session.next(sample)) expected.add(classify(sample.dataSource, sample.address != 0, false), 1);

  const analysis::Report report = reportOf(recording);
  EXPECT_EQ(report.samples, 800u);
  EXPECT_EQ(statistic(report.stats, "loads"), 600u);
  EXPECT_EQ(statistic(report.stats, "stores"), 200u);
  for (const auto& [name, counter] :
       {std::pair("loads", Counter::loads), std::pair("localPeer", Counter::localPeer),
        std::pair("remotePeer", Counter::remotePeer), std::pair("ldL1", Counter::ldL1),
        std::pair("stL1Hit", Counter::stL1Hit), std::pair("noMap", Counter::noMap)})
    EXPECT_EQ(statistic(report.stats, name), expected[counter]) << name;
  EXPECT_GT(expected[Counter::localPeer] + expected[Counter::remotePeer], 0u);
}

TEST(SpeSource, APeerHitIsEvidenceAndAHitmIsUnknown) {
  const analysis::Report report = reportOf(twoThreads());
  ASSERT_FALSE(report.evidence.empty());
  EXPECT_EQ(report.evidence.front(), "peer");
  EXPECT_FALSE(report.hitmKnown);
  EXPECT_EQ(statistic(report.stats, "localHitm"), UINT64_MAX);
  ASSERT_EQ(report.lines.size(), 1u);
  const analysis::Line& line = report.lines[0];
  EXPECT_EQ(line.address, kLine);
  EXPECT_EQ(line.verdict, analysis::Verdict::falseSharing);
  ASSERT_EQ(line.threads.size(), 2u);
  EXPECT_EQ(line.threads[0].tid, 100u);
  EXPECT_EQ(line.threads[1].tid, 101u);
  EXPECT_EQ(line.threads[1].comm, "worker101");
  ASSERT_EQ(line.accesses.size(), 2u);
  EXPECT_EQ(line.accesses[1].offset, 8u);
  ASSERT_TRUE(line.accesses[1].memory->cycles.has_value());
  EXPECT_EQ(line.accesses[1].memory->cycles->max, 119u);
}

/// The heap agent has the monotonic clock, SPE its counter, which the kernel relates to another one.
TEST(SpeSource, HeapBlocksOfAnotherClockAreNotUsed) {
  const perfdata::testing::TempFolder folder;
  twoThreads().write(folder / "perf.data");
  std::ofstream(folder / "allocations") << "whatever";
  const analysis::Recording opened = analysis::openRecording(folder / "");
  const analysis::Report report = analyze(*perfdata::Reader::open(opened.perfData), opened, {});
  const auto unused = [](const std::string& text) { return text.starts_with("Heap blocks were recorded"); };
  EXPECT_EQ(std::count_if(report.warnings.begin(), report.warnings.end(), unused), 1);
  EXPECT_EQ(report.samples, 800u);
}

TEST(SpeSource, WithoutItsDescriptionTheTraceCannotBeRead) {
  SpeGatherer gatherer;
  EXPECT_THROW(gatherer.session({}), Error);
}

}  // namespace
}  // namespace cacheline::sharing
