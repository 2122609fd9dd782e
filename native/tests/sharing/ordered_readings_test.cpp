// What samples say beside counts: a plain recording, whose samples are read in any order and by any number of
// threads, has the report of one that only a reading in order makes sense of.
#include <gtest/gtest.h>

#include <functional>

#include "../perfdata/file_builder.h"
#include "../perfdata/record_builder.h"
#include "../perfdata/test_support.h"
#include "analysis/recording.h"
#include "sharing/analyze.h"

namespace cacheline::sharing {
namespace {

/// Two CPUs' buffers in the file, one after the other; the second one's samples begin earlier.
analysis::Report reportInOrder(const Options& options, bool plain) {
  constexpr uint64_t kMemory = 0x10000000;
  perf_mem_data_src source{};
  source.mem_op = PERF_MEM_OP_LOAD;
  source.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3;
  source.mem_snoop = PERF_MEM_SNOOP_HITM;
  perfdata::testing::RecordBuilder b;
  b.event(
      perfdata::testing::clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                                   PERF_SAMPLE_CPU | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_CALLCHAIN),
      "mem-loads", {1});
  b.at(0).thread(100, 100).comm("program", true);
  b.mmap2({.address = 0x400000, .length = 0x10000, .inode = 3, .file = "/bin/program"});
  b.mmap2({.address = kMemory, .length = 0x10000, .protection = PROT_READ | PROT_WRITE, .file = "//anon"});
  for (const uint32_t cpu : {0u, 1u})
    for (uint64_t i = 0; i < 4000; ++i)
      b.cpu(cpu)
          .at((cpu == 0 ? 2'000'000 : 1'000'000) + 1000 * i)
          .thread(100, 100 + cpu)
          .sample({.ip = 0x400000 + 4 * (i % 3),
                   .address = kMemory + 64 * (i / 100) + 8 * cpu,
                   .callchain = {PERF_CONTEXT_USER, 0x400000 + 4 * (i % 3), 0x401000 + i / 500},
                   .dataSource = source.val});
  b.finishedRound();
  if (!plain) b.raw(perfdata::kRecordHeaderTracingData, 0, {0, 0, 0, 0, 0, 0, 0, 0});
  const perfdata::testing::TempFolder folder;
  const std::string path = folder / "perf.data";
  b.write(path);
  return analyze(*perfdata::Reader::open(path), analysis::openRecording(path), options, {});
}

void expectSame(Options options, const std::function<void(const analysis::Report&)>& check) {
  const analysis::Report plain = reportInOrder(options, true);
  EXPECT_EQ(analysis::reportJson(plain), analysis::reportJson(reportInOrder(options, false)));
  for (const unsigned threads : {1u, 5u}) {
    options.threads = threads;
    EXPECT_EQ(analysis::reportJson(plain), analysis::reportJson(reportInOrder(options, true))) << threads;
  }
  check(plain);
}

TEST(OrderedReadings, WindowsOfTimeCountFromTheFirstSample) {
  Options options;
  options.filter.from = 3e-3;
  expectSame(options, [](const analysis::Report& report) { EXPECT_EQ(report.samples, 1000u + 2000u); });
  options.filter = {};
  options.filter.to = 1.5e-3;
  expectSame(options, [](const analysis::Report& report) { EXPECT_EQ(report.samples, 1501u + 501u); });
}

TEST(OrderedReadings, CallersAreOfAllSamples) {
  Options options;
  options.callers = true;
  expectSame(options, [](const analysis::Report& report) {
    ASSERT_FALSE(report.lines.empty());
    ASSERT_TRUE(report.lines[0].accesses.at(0).callers);
    EXPECT_EQ(report.lines[0].accesses[0].callers->size(), 8u);
  });
}

TEST(OrderedReadings, RowsByThreadAreShownOfAllLines) {
  Options options;
  options.showAll = true;
  options.coalesce.tid = true;
  expectSame(options, [](const analysis::Report& report) { EXPECT_EQ(report.lines.size(), 40u); });
}

}  // namespace
}  // namespace cacheline::sharing
