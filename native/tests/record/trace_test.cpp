// Traces on a kernel that refuses what the running one cannot be made to refuse.
#include <gtest/gtest.h>

#include <cerrno>

#include "support.h"

namespace cacheline::record::test {
namespace {

const char* const kAllocatesAndFrees = R"(
#include <stdlib.h>
#include <time.h>
int main(void) {
  struct timespec pause = {0, 1000000};
  for (int i = 0; i < 1000; i++) {
    long* volatile block = malloc(64);
    *block = i;
    nanosleep(&pause, 0);
    free(block);
  }
  return 5;
})";

/// The running one, but that it refuses breakpoints on other threads than one's own.
Kernel refusingBreakpoints(int errnum) {
  Kernel kernel = Kernel::real();
  kernel.perfEventOpen = [errnum](const perf_event_attr& attr, pid_t pid, int cpu, int group,
                                  unsigned long flags) {
    if (attr.type != PERF_TYPE_BREAKPOINT || pid == 0)
      return Kernel::real().perfEventOpen(attr, pid, cpu, group, flags);
    errno = errnum;
    return -1;
  };
  return kernel;
}

TEST(Trace, SaysWhyTheKernelRefusesToWatch) {
  const TemporaryFolder folder;
  RecordOptions options = optionsFor(folder, {compile(folder, "allocates", kAllocatesAndFrees)});
  TraceOptions trace;
  trace.agent = CACHELINE_HEAP_AGENT;
  trace.subject = [](const symbols::LinkedFiles&) { return TraceSubject{"cell", "", 64, {{0, 8}, {8, 8}}}; };
  trace.place = [](pid_t, std::span<const uint64_t>, uint64_t) { return std::optional<uint64_t>(0); };
  trace.variables = [](pid_t) { return std::vector<TraceObject>(); };
  options.trace = std::move(trace);
  const std::atomic<bool> stop{false};
  const RecordResult result = record(options, stop, {}, refusingBreakpoints(EBUSY));
  EXPECT_EQ(result.exitStatus, 5);
  ASSERT_TRUE(result.trace);
  EXPECT_EQ(result.trace->instances, 0u);
  EXPECT_TRUE(
      anyContains(result.warnings, "the kernel refused watchpoints: EBUSY (Device or resource busy)"));
}

}  // namespace
}  // namespace cacheline::record::test
