// The installed perf as judge: it reads what Writer writes, and Reader counts what perf prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "perfdata/reader.h"
#include "record_builder.h"
#include "test_support.h"

namespace cacheline::perfdata::testing {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Standard output of perf, through `filter` (a pipe, or nothing), which must succeed.
std::string perf(const std::string& arguments, const std::string& filter = {}) {
  const auto [output, status] = runShell("perf " + arguments + " 2>/dev/null " + filter);
  EXPECT_EQ(status, 0) << "perf " << arguments << "\n" << output;
  return output;
}

size_t lines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

class PerfJudge : public ::testing::Test {
 protected:
  void SetUp() override { CACHELINE_NEEDS_PERF(); }

  std::string written() const {
    Features f;
    f.hostname = "some-host";
    f.osRelease = "6.18.1";
    f.version = "0.1.0";
    f.arch = "x86_64";
    f.cpuDesc = "Some CPU";
    f.cpuId = "GenuineIntel,6,207,2";
    f.cpusAvailable = 3;
    f.cpusOnline = 2;
    f.totalMemKb = 123456;
    f.cmdline = {"cacheline", "record", "--", "./worker"};
    f.coreSiblings = {"0-1"};
    f.threadSiblings = {"0", "1"};
    f.dieSiblings = {"0-1"};
    f.cpuPlaces = {{0, 0, 0}, {1, 0, 0}};
    f.numaNodes = {{0, 1000, 500, "0-1"}};
    f.memoryNodes = {{0, {{0, 0x18000000}, {0x20000000, 0x28000000}}}};
    f.pmuMappings = {{1, "software"}, {5, "breakpoint"}};
    f.buildIds = {{-1, "0123456789abcdef0123456789abcdef01234567", "/opt/worker", false}};
    f.sampleTime = {1'000'000'000, 3'000'000'000};
    f.clockResolutionNs = 1;
    RecordBuilder b;
    perf_event_attr attr = clockAttr();
    attr.use_clockid = 1;
    attr.clockid = CLOCK_MONOTONIC;
    b.event(attr, "cpu-clock:u", {21, 22});
    b.thread(100, 100).at(500'000'000).comm("worker", true);
    b.mmap2({.address = 0x400000, .length = 0x1000, .file = "/opt/worker"});
    b.fork(100, 101).thread(100, 101);
    for (uint64_t i = 0; i < 5; ++i) {
      b.cpu(i % 2)
          .at(1'000'000'000 + i * 500'000'000)
          .sample({.ip = 0x400100 + i, .registers = {{kRegAx, 0xabc0 + i}}});
    }
    b.finishedRound().lost(2).exit();
    b.write(folder_ / "perf.data", f);
    return folder_ / "perf.data";
  }

  TempFolder folder_;
};

TEST_F(PerfJudge, ScriptPrintsWhatWasWritten) {
  const std::string file = written();
  const std::string text = perf("script -i " + file + " -F comm,pid,tid,cpu,time,event,ip,iregs");
  EXPECT_EQ(lines(text), 5u) << text;
  EXPECT_TRUE(contains(text, "worker")) << text;
  EXPECT_TRUE(contains(text, "100/101")) << text;
  EXPECT_TRUE(contains(text, "[001]")) << text;
  EXPECT_TRUE(contains(text, "3.000000")) << text;
  EXPECT_TRUE(contains(text, "cpu-clock:u")) << text;
  EXPECT_TRUE(contains(text, "400104")) << text;
  EXPECT_TRUE(contains(text, "AX:0xabc4")) << text;
}

TEST_F(PerfJudge, EvlistPrintsTheAttribute) {
  const std::string text = perf("evlist -v -i " + written());
  EXPECT_TRUE(contains(text, "cpu-clock:u: type: 1, size: " + std::to_string(sizeof(perf_event_attr))))
      << text;
  EXPECT_TRUE(contains(text, "sample_type: IP|TID|TIME|CPU|PERIOD|REGS_INTR")) << text;
  EXPECT_TRUE(contains(text, "sample_regs_intr: 0xff0fff")) << text;
}

TEST_F(PerfJudge, ReportHeaderPrintsEveryFeature) {
  const std::string file = written();
  const std::string text = perf("report --header-only -I -i " + file);
  for (const char* part : {"# hostname : some-host\n",
                           "# os release : 6.18.1\n",
                           "# perf version : 0.1.0\n",
                           "# arch : x86_64\n",
                           "# nrcpus online : 2\n",
                           "# nrcpus avail : 3\n",
                           "# cpudesc : Some CPU\n",
                           "# cpuid : GenuineIntel,6,207,2\n",
                           "# total memory : 123456 kB\n",
                           "# cmdline : cacheline record -- ./worker",
                           "name = cpu-clock:u",
                           "id = { 21, 22 }",
                           "# sibling sockets : 0-1\n",
                           "# sibling dies    : 0-1\n",
                           "# sibling threads : 0\n",
                           "# sibling threads : 1\n",
                           "# CPU 1: Core ID 1, Die ID 0, Socket ID 0\n",
                           "# node0 meminfo  : total = 1000 kB, free = 500 kB\n",
                           "# node0 cpu list : 0-1\n",
                           "# memory nodes (nr 1, block size 0x8000000):\n",
                           "#    0 [512M]: 0-2,4\n",
                           "software = 1, breakpoint = 5",
                           "# time of first sample : 1.000000\n",
                           "# time of last sample : 3.000000\n",
                           "clockid frequency: 1000 MHz"}) {
    EXPECT_TRUE(contains(text, part)) << "missing: " << part << "\n" << text;
  }
  const std::string ids = perf("buildid-list -i " + file);
  EXPECT_TRUE(contains(ids, "0123456789abcdef0123456789abcdef01234567 /opt/worker")) << ids;
}

TEST_F(PerfJudge, ManyRoundsOfManyCpusAreInPerfsOrder) {
  RecordBuilder b;
  b.event(clockAttr(), "cpu-clock:u", {1, 2, 3}).thread(9, 9);
  uint64_t seed = 12345;
  for (uint64_t round = 0; round < 40; ++round) {
    for (uint32_t cpu = 0; cpu < 3; ++cpu) {
      uint64_t time = 1'000'000 + round * 250'000 + cpu * 7'000;
      for (int i = 0; i < 20; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        time += 1000 * (1 + (seed >> 60));
        b.cpu(cpu).at(time).sample({.ip = 0x1000 + (seed >> 52)});
      }
    }
    b.finishedRound();
  }
  const std::string file = folder_ / "perf.data";
  b.write(file);
  const auto reader = Reader::open(file);
  Collector got;
  reader->readAll(got);
  std::ostringstream ours;
  for (const auto& s : got.samples) ours << std::hex << s.ip << std::dec << ' ' << s.cpu << '\n';
  std::string theirs = perf("script -i " + file + " --ns -F cpu,ip",
                            "| sed -E 's/^ *\\[0*([0-9]+)\\] +([0-9a-f]+).*/\\2 \\1/'");
  EXPECT_EQ(ours.str(), theirs);
}

/// A recording by perf itself, with everything that `options` ask for.
void expectSameSamples(const std::string& file, const std::string& options) {
  const auto [output, status] =
      runShell("perf record -N -o " + file + " " + options +
               " -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; ls / >/dev/null'");
  if (status != 0) GTEST_SKIP() << "perf cannot record here: " << output;
  const auto reader = Reader::open(file);
  Collector got;
  reader->readAll(got);
  EXPECT_TRUE(reader->warnings().empty()) << reader->warnings().front();
  std::ostringstream ours;
  for (const auto& s : got.samples)
    ours << s.pid << '/' << s.tid << ' ' << std::hex << s.ip << std::dec << '\n';
  const std::string theirs = perf("script -i " + file + " -F pid,tid,ip -G",
                                  "| sed -E 's/^ *([0-9]+\\/[0-9]+) +([0-9a-f]+).*/\\1 \\2/'");
  EXPECT_GT(got.samples.size(), 0u);
  EXPECT_EQ(ours.str(), theirs);
  EXPECT_FALSE(got.mmaps.empty());
  EXPECT_FALSE(got.comms.empty());
  EXPECT_FALSE(reader->features().hostname.empty());
  EXPECT_GT(reader->features().cpusOnline, 0u);
  EXPECT_FALSE(reader->features().cpuPlaces.empty());
  EXPECT_FALSE(reader->features().cmdline.empty());
  EXPECT_TRUE(contains(reader->events()[0].name, "cpu-clock")) << reader->events()[0].name;
}

TEST_F(PerfJudge, ARecordingWithRegisters) {
  expectSameSamples(folder_ / "perf.data", "-e cpu-clock --intr-regs=ax,bx,cx,sp,ip,r15");
}

TEST_F(PerfJudge, ARecordingWithAllSortsOfFields) {
  expectSameSamples(
      folder_ / "perf.data",
      "-e cpu-clock:u --intr-regs=ax --user-regs=bx,sp -d --phys-data --sample-cpu --sample-identifier "
      "--data-page-size --code-page-size --weight --transaction -T -P");
}

TEST_F(PerfJudge, ARecordingOfSeveralEvents) {
  const std::string file = folder_ / "perf.data";
  expectSameSamples(file, "-e cpu-clock,task-clock --no-inherit -c 300000");
  if (IsSkipped() || HasFailure()) return;
  const auto reader = Reader::open(file);
  Collector got;
  reader->readAll(got);
  const auto second =
      std::count_if(got.samples.begin(), got.samples.end(), [](const Sample& s) { return s.event == 1; });
  const std::string theirs = perf("script -i " + file + " -F event");
  size_t count = 0;
  for (size_t at = 0; (at = theirs.find("task-clock", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(static_cast<size_t>(second), count);
  EXPECT_GT(count, 0u);
}

TEST_F(PerfJudge, ARecordingWithStacksAndReadGroups) {
  const std::string file = folder_ / "perf.data";
  const auto [output, status] = runShell("perf record -N -o " + file +
                                         " -e '{cpu-clock,page-faults}:S' --call-graph dwarf,1024 -- sh -c "
                                         "'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'");
  if (status != 0) GTEST_SKIP() << "perf cannot record here: " << output;
  const auto reader = Reader::open(file);
  Collector got;
  reader->readAll(got);
  EXPECT_TRUE(reader->warnings().empty()) << reader->warnings().front();
  EXPECT_GT(got.samples.size(), 0u);
  // perf turns a group's READ values into samples of the other members, so its lines of the leader are the
  // ones to count.
  const std::string theirs = perf("script -i " + file + " -F event,ip -G", "| grep cpu-clock");
  EXPECT_EQ(got.samples.size(), lines(theirs));
}

TEST_F(PerfJudge, ARecordingWithCallChains) {
  const std::string file = folder_ / "perf.data";
  const auto [output, status] =
      runShell("perf record -N -o " + file +
               " -g -e cpu-clock -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'");
  if (status != 0) GTEST_SKIP() << "perf cannot record here: " << output;
  Collector got;
  Reader::open(file)->readAll(got);
  ASSERT_FALSE(got.samples.empty());
  for (const auto& s : got.samples) {
    ASSERT_GE(s.chain.size(), 2u);
    EXPECT_TRUE(s.chain[0] == PERF_CONTEXT_USER || s.chain[0] == PERF_CONTEXT_KERNEL)
        << std::hex << s.chain[0];
    EXPECT_EQ(s.chain[1], s.ip);
  }
}

}  // namespace
}  // namespace cacheline::perfdata::testing
