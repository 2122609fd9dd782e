// What a report says of recordings whose data sources say little.
#include "sharing/analyze.h"

#include <gtest/gtest.h>

#include "../perfdata/record_builder.h"
#include "../perfdata/test_support.h"
#include "analysis/recording.h"

namespace cacheline::sharing {
namespace {

/// The report of a recording with one sample of each data source. `lost`: samples; `address`: of the data.
analysis::Report reportOf(const std::vector<perf_mem_data_src>& sources, uint64_t lost = 0,
                          uint64_t address = 0x10040) {
  perfdata::testing::RecordBuilder builder;
  builder.event(perfdata::testing::clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                             PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_WEIGHT),
                "mem-loads", {1});
  builder.at(1).thread(100, 100).comm("program", true);
  builder.mmap2({.address = 0x10000, .length = 4096, .protection = PROT_READ | PROT_WRITE, .file = "[heap]"});
  uint64_t time = 10;
  for (const perf_mem_data_src& source : sources)
    builder.at(time++).sample({.ip = 0x400000, .address = address, .weight = 30, .dataSource = source.val});
  if (lost > 0) builder.lostSamples(lost);
  const perfdata::testing::TempFolder folder;
  const std::string path = folder / "perf.data";
  perfdata::Features features;
  features.arch = "x86_64";
  builder.write(path, features);
  const analysis::Recording recording = analysis::openRecording(path);
  Options options;
  options.showAll = true;
  return analyze(*perfdata::Reader::open(path), recording, options, {});
}

perf_mem_data_src notAvailable() {
  perf_mem_data_src source{};
  source.mem_op = PERF_MEM_OP_NA;
  return source;
}

perf_mem_data_src load() {
  perf_mem_data_src source{};
  source.mem_op = PERF_MEM_OP_LOAD;
  source.mem_lvl = PERF_MEM_LVL_HIT | PERF_MEM_LVL_L1;
  return source;
}

std::optional<uint64_t> statistic(const analysis::Report& report, const std::string& name) {
  for (const auto& [key, value] : report.stats)
    if (key == name) return value;
  ADD_FAILURE() << "no statistic " << name;
  return {};
}

TEST(Blind, IsWhatHasNoAddressOrWasLost) {
  EXPECT_FALSE(reportOf({load(), load()}).blind);
  EXPECT_FALSE(reportOf({load(), notAvailable(), notAvailable()}).blind) << "these are no accesses";
  EXPECT_FALSE(reportOf({load()}).unseen) << "where they would be is not counted";
  const analysis::Report unknown = reportOf({load(), load()}, 0, 0);
  ASSERT_TRUE(unknown.blind);
  EXPECT_DOUBLE_EQ(unknown.blind->share, 1);
  EXPECT_EQ(unknown.blind->reasons.front().reason, analysis::UnseenReason::unmapped);
  const analysis::Report lost = reportOf({load(), load()}, 6);
  ASSERT_TRUE(lost.blind);
  EXPECT_DOUBLE_EQ(lost.blind->share, 0.75);
  ASSERT_EQ(lost.blind->reasons.size(), 1u);
  EXPECT_EQ(lost.blind->reasons.front().reason, analysis::UnseenReason::lost);
}

TEST(Evidence, IsNoneWhereAllDataSourcesAreNotAvailable) {
  const analysis::Report report = reportOf({notAvailable(), notAvailable()});
  EXPECT_TRUE(report.evidence.empty());
  EXPECT_EQ(statistic(report, "noParse"), 2u);
  for (const char* name : {"localHitm", "remoteHitm", "localPeer", "remotePeer"})
    EXPECT_EQ(statistic(report, name), std::nullopt) << name;
  EXPECT_NE(analysis::reportJson(report).find("\"evidence\":[]"), std::string::npos);
}

TEST(Evidence, OfOneLoadIsThatItWasNoHitm) {
  const analysis::Report report = reportOf({notAvailable(), load()});
  EXPECT_EQ(report.evidence, (std::vector<std::string>{"hitm", "latency"}));
  EXPECT_EQ(statistic(report, "localHitm"), 0u);
  EXPECT_EQ(statistic(report, "localPeer"), 0u);
}

}  // namespace
}  // namespace cacheline::sharing
