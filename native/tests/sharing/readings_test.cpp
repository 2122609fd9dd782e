// Recordings read in order and in none, by one thread and by two: the report is the same.
#include "sharing/readings.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "../perfdata/file_builder.h"
#include "../perfdata/record_builder.h"
#include "../perfdata/test_support.h"
#include "analysis/recording.h"
#include "sharing/analyze.h"

namespace cacheline::sharing {
namespace {

using perfdata::testing::RecordBuilder;

uint64_t dataSource(std::mt19937_64& random) {
  perf_mem_data_src source{};
  const bool load = random() % 3 != 0;
  source.mem_op = load ? PERF_MEM_OP_LOAD : PERF_MEM_OP_STORE;
  source.mem_lvl = PERF_MEM_LVL_HIT | (load && random() % 2 == 0 ? PERF_MEM_LVL_L3 : PERF_MEM_LVL_L1);
  source.mem_snoop = load && random() % 2 == 0 ? PERF_MEM_SNOOP_HITM : PERF_MEM_SNOOP_NONE;
  return source.val;
}

/// Three processes that share one mapping and fork, exec and map while they are sampled. Of 3,000 lines some
/// have most samples, so that many lines are left out; other ones in the second half.
RecordBuilder recording(uint64_t seed, bool plain, int rounds = 30) {
  constexpr uint32_t kCpus = 4;
  constexpr uint64_t kHeapAt = 0x10000000, kSharedAt = 0x20000000, kBytes = 3000 * 64;
  std::mt19937_64 random(seed);
  RecordBuilder b;
  b.event(perfdata::testing::clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                       PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT |
                                       PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR),
          "mem-loads", {1});
  const auto map = [&](uint64_t seedOfFile) {
    b.mmap2({.address = 0x400000, .length = 0x10000, .inode = 3 + seedOfFile, .file = "/bin/program"});
    b.mmap2({.address = kHeapAt, .length = kBytes, .protection = PROT_READ | PROT_WRITE, .file = "//anon"});
    b.mmap2({.address = kSharedAt + 4096 * (random() % 4),
             .length = kBytes,
             .major = 1,
             .inode = 9,
             .protection = PROT_READ | PROT_WRITE,
             .flags = MAP_SHARED,
             .file = "/dev/shm/ring"});
  };
  for (uint32_t pid = 100; pid < 103; ++pid) {
    b.at(0).thread(pid, pid).comm("program", true);
    map(0);
  }
  std::vector<std::vector<uint64_t>> buffers(kCpus);
  uint64_t now = 1000;
  uint64_t hotAt = 16384;
  const auto empty = [&](uint32_t cpu) {
    for (const uint64_t time : buffers[cpu]) {
      const auto pid = static_cast<uint32_t>(100 + random() % 3);
      b.cpu(cpu).at(time).thread(pid, pid + static_cast<uint32_t>(random() % 4));
      switch (random() % 800) {
        case 0:
          b.thread(pid, pid).comm("again", true);
          map(random() % 2);
          break;
        case 1:
          b.fork(pid, pid + 4 + static_cast<uint32_t>(random() % 50));
          break;
        case 2:
          b.mmap2({.address = kHeapAt + 64 * (random() % 3000) / 4096 * 4096,
                   .length = 4096,
                   .inode = 77,
                   .protection = PROT_READ | PROT_WRITE,
                   .file = "/lib/other"});
          break;
        default:
          const bool hot = random() % 4 != 0;
          b.sample({.ip = 0x400000 + 4 * (random() % 30),
                    .address = (random() % 2 == 0 ? kHeapAt : kSharedAt) +
                               (hot ? hotAt + 8 * (random() % 40) : 16384 + 8 * (random() % 20000)),
                    .weight = random() % 500,
                    .dataSource = dataSource(random),
                    .physicalAddress = 0x1000 * (1 + random() % 3)});
      }
    }
    buffers[cpu].clear();
  };
  for (int round = 0; round < rounds; ++round) {
    if (round == rounds / 2) hotAt = 180224;
    for (uint32_t cpu = 0; cpu < kCpus; ++cpu) {
      for (uint64_t n = random() % 400; n > 0; --n)
        buffers[random() % kCpus].push_back(now += random() % 3);  // some at one time
      empty(cpu);
    }
    b.finishedRound();
  }
  for (uint32_t cpu = 0; cpu < kCpus; ++cpu) empty(cpu);
  // Bytes behind a record are what only a reading in order makes sense of.
  if (!plain) b.raw(perfdata::kRecordHeaderTracingData, 0, {0, 0, 0, 0, 0, 0, 0, 0});
  return b;
}

std::string reportOf(const RecordBuilder& b, unsigned threads, perfdata::Scanned scanned,
                     uint64_t prepassLoads = Options().prepassLoads) {
  const perfdata::testing::TempFolder folder;
  const std::string path = folder / "perf.data";
  b.write(path);
  Options options;
  options.threads = threads;
  options.prepassLoads = prepassLoads;
  struct Nobody : perfdata::AccessVisitor {
    void onAccesses(perfdata::AccessReader&, const perfdata::Stretch&) override {}
  } nobody;
  EXPECT_EQ(perfdata::Reader::open(path)->scan(std::array<perfdata::AccessVisitor*, 1>{&nobody}), scanned);
  const auto reader = perfdata::Reader::open(path);
  analysis::Report report = analyze(*reader, analysis::openRecording(path), options, {});
  EXPECT_GT(report.linesLeftOut, 1000u);
  EXPECT_GT(report.lines.size(), 5u);
  return analysis::reportJson(report);
}

TEST(Readings, AreTheSameByOneThreadAndByTwo) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    const RecordBuilder b = recording(seed, true);
    EXPECT_EQ(reportOf(b, 1, perfdata::Scanned::plainly), reportOf(b, 2, perfdata::Scanned::plainly));
  }
}

TEST(Readings, AreTheSameInOrder) {
  for (uint64_t seed = 1; seed <= 2; ++seed)
    EXPECT_EQ(reportOf(recording(seed, true), 2, perfdata::Scanned::plainly),
              reportOf(recording(seed, false), 2, perfdata::Scanned::wholly));
}

TEST(Readings, AreTheSameWhateverTheFirstSamplesTell) {
  constexpr int kRounds = 160;  // the first look is before lines change, the second one after it
  const RecordBuilder b = recording(1, true, kRounds);
  const std::string expected = reportOf(recording(1, false, kRounds), 2, perfdata::Scanned::wholly);
  for (const auto& [threads, loads] : {std::pair{5u, 1}, {2u, 150'000}})  // a tenth is enough of so few
    EXPECT_EQ(reportOf(b, threads, perfdata::Scanned::plainly, loads), expected) << loads;
}

/// By the first samples, no line is listed, and all have their part in the sums; then some have most of the
/// loads.
RecordBuilder laterListed(bool plain) {
  constexpr uint64_t kAt = 0x10000000, kLines = 4000, kListed = 10;
  constexpr uint32_t kEach = 5;
  RecordBuilder b;
  b.event(
      perfdata::testing::clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                                   PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC),
      "mem-loads", {1});
  b.at(0).thread(100, 100).comm("program", true);
  b.mmap2({.address = 0x400000, .length = 0x10000, .inode = 3, .file = "/bin/program"});
  b.mmap2({.address = kAt, .length = 64 * kLines, .protection = PROT_READ | PROT_WRITE, .file = "//anon"});
  perf_mem_data_src source{};
  source.mem_op = PERF_MEM_OP_LOAD;
  source.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L3;
  source.mem_snoop = PERF_MEM_SNOOP_HITM;
  uint64_t now = 1000;
  const auto round = [&](uint64_t lines) {
    for (uint64_t i = 0; i < kLines * kEach; ++i)
      b.at(now += 10)
          .thread(100, static_cast<uint32_t>(100 + i / lines % 3))
          .sample({.ip = 0x400000 + 4 * (i % 7),
                   .address = kAt + 64 * (i % lines),
                   .weight = i % 300,
                   .dataSource = source.val});
    b.finishedRound();
  };
  for (int i = 0; i < 8; ++i) round(kLines);  // more than 8 MB: what is looked at first
  for (int i = 0; i < 2; ++i) round(kListed);
  if (!plain) b.raw(perfdata::kRecordHeaderTracingData, 0, {0, 0, 0, 0, 0, 0, 0, 0});
  return b;
}

TEST(Readings, KnowAllOfLinesThatAreListedAfterAll) {
  const std::string expected = reportOf(laterListed(false), 2, perfdata::Scanned::wholly);
  EXPECT_EQ(reportOf(laterListed(true), 5, perfdata::Scanned::plainly, 1), expected);
}

}  // namespace
}  // namespace cacheline::sharing
