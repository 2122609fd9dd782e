// perf itself reads what the recorder writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "support.h"

namespace cacheline::record::test {
namespace {

class PerfJudge : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!perfIsInstalled()) return;
    folder_ = std::make_unique<TemporaryFolder>();
    const std::string spin = compile(*folder_, "spin", kSpin, "-O1 -g -fno-omit-frame-pointer");
    RecordOptions options = optionsFor(*folder_, {spin, "2", "0.5"});
    options.callGraph = CallGraph::framePointers;
    result_ = recordNow(options);
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override {
    if (!folder_) GTEST_SKIP() << "perf is not installed (Debian: apt-get install linux-perf)";
  }
  static ShellResult perf(const std::string& command) {
    return shell("cd " + folder_->path() + " && perf " + command + " -i out/perf.data < /dev/null");
  }

  static inline std::unique_ptr<TemporaryFolder> folder_;
  static inline RecordResult result_;
};

TEST_F(PerfJudge, Script) {
  const ShellResult script = perf("script -F comm,pid,tid,cpu,time,event,ip,sym,dso,iregs");
  ASSERT_EQ(script.status, 0) << script.output;
  EXPECT_TRUE(contains(script.output, "spin")) << script.output.substr(0, 500);
  EXPECT_TRUE(contains(script.output, "work")) << script.output.substr(0, 500);
  EXPECT_TRUE(contains(script.output, "ABI:2")) << script.output.substr(0, 500);
}

TEST_F(PerfJudge, CountsTheSameSamples) {
  const ShellResult script = perf("script -F tid,ip -G");
  ASSERT_EQ(script.status, 0) << script.output;
  const auto lines = std::count(script.output.begin(), script.output.end(), '\n');
  EXPECT_EQ(static_cast<uint64_t>(lines), result_.samples);
}

TEST_F(PerfJudge, SideBand) {
  const ShellResult script =
      perf("script --show-task-events --show-mmap-events -F comm,pid,tid,time,event,ip");
  ASSERT_EQ(script.status, 0) << script.output;
  EXPECT_TRUE(contains(script.output, "PERF_RECORD_COMM exec: spin")) << script.output.substr(0, 2000);
  EXPECT_TRUE(contains(script.output, "PERF_RECORD_MMAP2")) << script.output.substr(0, 2000);
  EXPECT_TRUE(contains(script.output, "PERF_RECORD_FORK")) << script.output.substr(0, 2000);
  EXPECT_TRUE(contains(script.output, "PERF_RECORD_EXIT")) << script.output.substr(0, 2000);
}

TEST_F(PerfJudge, Report) {
  const ShellResult report = perf("report --stdio --no-children -g none");
  ASSERT_EQ(report.status, 0) << report.output;
  EXPECT_TRUE(contains(report.output, "work")) << report.output;
  EXPECT_TRUE(contains(report.output, "cpu-clock")) << report.output;
}

TEST_F(PerfJudge, Evlist) {
  const ShellResult list = perf("evlist -v");
  ASSERT_EQ(list.status, 0) << list.output;
  EXPECT_TRUE(list.output.starts_with("cpu-clock")) << list.output;
  for (const char* part : {"REGS_INTR", "IDENTIFIER", "sample_id_all: 1", "mmap_data: 1", "comm_exec: 1",
                           "use_clockid: 1", "enable_on_exec: 1", "499"})
    EXPECT_TRUE(contains(list.output, part)) << part << " in " << list.output;
}

TEST_F(PerfJudge, HeaderAndBuildIds) {
  const ShellResult header = perf("report --header-only -I");
  ASSERT_EQ(header.status, 0) << header.output;
  for (const char* part : {"hostname :", "nrcpus online :", "cpudesc :", "total memory :",
                           "cmdline : cacheline record", "sibling", "node0 meminfo", "pmu mappings: "})
    EXPECT_TRUE(contains(header.output, part)) << part << " in " << header.output;
  const ShellResult ids = perf("buildid-list");
  ASSERT_EQ(ids.status, 0) << ids.output;
  EXPECT_TRUE(contains(ids.output, folder_->file("spin"))) << ids.output;
}

}  // namespace
}  // namespace cacheline::record::test
