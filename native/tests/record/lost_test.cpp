// Records that found no room in their ring: each is counted once, also where the kernel tells of none.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "perfdata/writer.h"
#include "record/clock_plan.h"
#include "record/perf_source.h"
#include "record/record_stream.h"
#include "record/recorder.h"
#include "running.h"
#include "support.h"

namespace cacheline::record::test {
namespace {

constexpr size_t kTinyRing = size_t{32} << 10;

/// A record for each page fault of the program's own code.
EventPlan pageFaults() {
  RecordOptions options;
  options.period = 1;
  PlannedEvent planned;
  planned.event.attr = clockAttr(options, false, true);
  planned.event.attr.config = PERF_COUNT_SW_PAGE_FAULTS;
  planned.event.name = "page-faults:u";
  EventPlan plan;
  plan.collector = "clock";
  plan.attempts = {{{planned}, false, {}}};
  return plan;
}

/// That many page faults of the calling thread.
void touchPages(size_t count) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* room = ::mmap(nullptr, count * page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  ::madvise(room, count * page, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < count; i++) static_cast<volatile char*>(room)[i * page] = 1;
  ::munmap(room, count * page);
}

/// Keeps the calling thread on one CPU, so that its records go into one ring.
class OnOneCpu {
 public:
  OnOneCpu() {
    EXPECT_EQ(::sched_getaffinity(0, sizeof before_, &before_), 0);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one_) == 0; cpu++)
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one_);
    EXPECT_EQ(::sched_setaffinity(0, sizeof one_, &one_), 0);
  }
  ~OnOneCpu() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{}, one_{};
};

TEST(Lost, WhatNoRecordToldOfIsAddedOnceAtTheEnd) {
  constexpr size_t kFaults = 2000, kOurOwn = 1000;  // of each turn; at most, by what stands between them
  const TemporaryFolder folder;
  const OnOneCpu pinned;
  const auto source = PerfSource::open(Kernel::real(), pageFaults(), {Target::Kind::threads, {0}, {}, true},
                                       readPermissions(), {.ringBytes = kTinyRing, .switches = false});
  if (!source->lost()) GTEST_SKIP() << "needs Linux 6.0";
  const auto writer = perfdata::Writer::create(folder.file("perf.data"), source->events());
  BuildIds buildIds{timespec{}};
  RecordStream stream(*source, *writer, buildIds);

  source->enable();
  touchPages(kFaults);
  stream.drain();
  EXPECT_EQ(stream.counts().lost, 0u) << "nothing found room after them yet";
  touchPages(kFaults);
  source->disable();
  stream.drain();
  const uint64_t told = stream.counts().lost;
  EXPECT_GT(told, kFaults / 2) << "those of the first turn";
  stream.tellLost();
  EXPECT_GT(stream.counts().lost, told + kFaults / 2) << "and those of the second";
  const uint64_t all = stream.counts().samples + stream.counts().lost;
  EXPECT_GE(all, 2 * kFaults);
  EXPECT_LE(all, 2 * kFaults + kOurOwn);
  stream.tellLost();
  EXPECT_EQ(stream.counts().samples + stream.counts().lost, all) << "told twice";

  writer->finish({});
  const Recorded recorded(folder.path());
  EXPECT_EQ(recorded.samples, stream.counts().samples);
  EXPECT_EQ(recorded.lost, stream.counts().lost);
}

TEST(Lost, ARecordingTellsWhatWasLostAtItsEnd) {
  const TemporaryFolder folder;
  Running program({compile(folder, "spin", kSpin), "2", "600"});
  program.waitForThreads(3);
  RecordOptions options = attachTo(folder, {program.pid()});
  options.frequency = 9999;
  options.ringBytes = kTinyRing;
  std::atomic<bool> stop{false};
  const RecordResult result = record(options, stop, [&](const RecordProgress&) {
    const CpuTimes times(program.pid());
    waitFor("full ring", [&] { return times.least() > 0.3; });  // nobody empties it meanwhile
    stop = true;
  });
  const Recorded recorded(options.outputDirectory);
  if (recorded.reader->events().at(0).attr.read_format == 0) GTEST_SKIP() << "needs Linux 6.0";
  EXPECT_GT(result.lost, 1000u);
  EXPECT_EQ(recorded.lost, result.lost);
  EXPECT_EQ(recorded.samples, result.samples);
  EXPECT_TRUE(anyContains(result.warnings, std::to_string(result.lost) + " records were lost"));
  EXPECT_TRUE(
      contains(readFile(options.outputDirectory + "/meta.json"), "\"lost\": " + std::to_string(result.lost)));
  if (!perfIsInstalled()) return;
  const ShellResult perf = shell("perf report --stats -i " + options.outputDirectory + "/perf.data");
  EXPECT_TRUE(contains(perf.output, "LOST_SAMPLES events:")) << perf.output;
}

}  // namespace
}  // namespace cacheline::record::test
