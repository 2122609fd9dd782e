// Real samples of loads that overwrite the registers of their own address: the member that they wait for is
// reported.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "analysis/recording.h"
#include "base/error.h"
#include "fixture.h"
#include "record/recorder.h"
#include "sharing/analyze.h"

namespace cacheline::record::test {
namespace {

/// Each thread has a CPU of its own: on one they would not compete.
const char* const kSelfOverwriting = R"code(
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
static void keepTo(int number) {
  cpu_set_t all, one;
  int cpu = 0;
  sched_getaffinity(0, sizeof all, &all);
  while (cpu < CPU_SETSIZE - 1 && (!CPU_ISSET(cpu, &all) || number-- > 0)) cpu++;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}
struct Shared { long written, gap, read, end; };
static struct Shared shared __attribute__((aligned(64)));
static volatile int done;
static void* reader(void* base) {
  long sum = 0;
  keepTo(0);
  for (long i = 0; i < 300000000; i++) {
    long at = 16;
    __asm__ volatile("lea (%1,%0), %0\n mov (%0), %0\n add $8, %1\n sub $8, %1" : "+r"(at), "+r"(base) : : "cc", "memory");
    sum += at;
  }
  done = 1;
  return (void*)sum;
}
static void* writer(void* at) {
  keepTo(1);
  do __asm__ volatile("lock addq $1, (%0)" : : "r"(at) : "memory", "cc"); while (!done);
  return 0;
}
int main() {
  pthread_t a, b;
  pthread_create(&a, 0, writer, &shared.written);
  pthread_create(&b, 0, reader, &shared);
  pthread_join(b, 0);
  pthread_join(a, 0);
}
)code";

TEST(LiveRecovered, ALoadThatOverwritesItsAddress) {
  const symbols::test::TempDir dir;
  RecordOptions options;
  options.command = {symbols::test::compile(dir, "loads", "c", kSelfOverwriting, "-g -O2 -pthread -w")};
  options.outputDirectory = dir.file("out");
  std::filesystem::create_directories(options.outputDirectory);
  try {
    record(options, std::atomic<bool>{false});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::impossible) throw;
    GTEST_SKIP() << error.what() << " " << error.nextStep();
  }
  const analysis::Recording recording = analysis::openRecording(options.outputDirectory);
  const analysis::Report report = sharing::analyze(*perfdata::Reader::open(recording.perfData), recording,
                                                   {.showAll = true, .symbols = {}});
  uint64_t reads = 0;
  for (const analysis::Line& line : report.lines)
    for (const analysis::Access& access : line.accesses)
      if (access.data.field == "read") {
        EXPECT_EQ(line.verdict, analysis::Verdict::falseSharing);
        EXPECT_EQ(access.offset, 16u);
        reads += access.loads;
      }
  EXPECT_GT(reads, 15u);
  EXPECT_LT(report.unattributed.clobbered * 20, report.samples) << "of the loads, hardly one is lost";
}

}  // namespace
}  // namespace cacheline::record::test
