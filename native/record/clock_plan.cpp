// The clock collector's attributes and attempts, from most to least demanding.
#include "record/clock_plan.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/registers.h"

namespace cacheline::record {
namespace {

struct Level {
  bool kernel, interruptRegisters;
};
// The kernel refuses its own samples above paranoid 1, and REGS_INTR to everybody under lockdown.
constexpr std::array<Level, 4> kLevels{{{true, true}, {false, true}, {true, false}, {false, false}}};

// Of the user's stack with each sample, as `perf record --call-graph dwarf` takes it.
constexpr uint32_t kStackBytes = 8192;

std::string eventName(const RecordOptions& options, bool kernel) {
  if (options.kernelOnly) return "cpu-clock:k";
  return kernel ? "cpu-clock" : "cpu-clock:u";
}

}  // namespace

void addCallGraph(perf_event_attr& attr, CallGraph callGraph) {
  if (callGraph == CallGraph::none) return;
  attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  if (callGraph != CallGraph::dwarf) return;
  // The user's part of the chain is unwound from the stack, not followed by frame pointers.
  attr.exclude_callchain_user = 1;
  attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr.sample_regs_user = kX86SampleRegs;
  attr.sample_stack_user = kStackBytes;
}

uint32_t allowedFrequency(uint32_t asked, const Permissions& permissions,
                          std::vector<std::string>& warnings) {
  const int64_t limit = permissions.maxSampleRate.value_or(kMostFrequency);
  const bool kernelLimits = limit > 0 && limit < kMostFrequency;
  const uint32_t most = kernelLimits ? static_cast<uint32_t>(limit) : kMostFrequency;
  if (asked <= most) return asked;
  warnings.push_back("asked for " + std::to_string(asked) + " samples a second, recorded " +
                     std::to_string(most) +
                     (kernelLimits ? ": kernel.perf_event_max_sample_rate allows no more"
                                   : ": more could leave the program no time to run"));
  return most;
}

void addRegisters(perf_event_attr& attr, bool interrupt) {
  if (interrupt) {
    attr.sample_type |= PERF_SAMPLE_REGS_INTR;
    attr.sample_regs_intr = kX86SampleRegs;
  } else {
    attr.sample_type |= PERF_SAMPLE_REGS_USER;
    attr.sample_regs_user = kX86SampleRegs;
  }
}

perf_event_attr clockAttr(const RecordOptions& options, bool kernel, bool interruptRegisters) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.freq = options.period == 0 ? 1 : 0;
  attr.sample_freq = options.period == 0 ? options.frequency : options.period;
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
  addRegisters(attr, interruptRegisters);
  addCallGraph(attr, options.callGraph);
  attr.exclude_kernel = kernel ? 0 : 1;
  attr.exclude_hv = kernel ? 0 : 1;
  attr.exclude_user = options.kernelOnly ? 1 : 0;
  // Side-band records are delivered to the event of the CPU on which they happen: every event asks for them.
  attr.mmap = attr.mmap2 = attr.mmap_data = 1;
  attr.comm = attr.comm_exec = 1;
  attr.task = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;  // with wakeup_watermark 0 the kernel takes half the ring
  return attr;
}

Planned planClock(const RecordOptions& options, const Permissions& permissions) {
  Planned planned;
  planned.plan.collector = "clock";
#if !defined(__x86_64__)
  planned.blockers.push_back({"architecture",
                              "not x86-64: this version knows the registers of no other machine",
                              "Record on an x86-64 machine"});
#endif
  if (options.callGraph == CallGraph::branchStack)
    planned.blockers.push_back({"call graph lbr", "the kernel's clock events have no branch stacks",
                                "Ask for --call-graph fp or dwarf"});
  if (!planned.blockers.empty()) return planned;

  RecordOptions allowed = options;
  std::vector<std::string> warnings;
  if (options.period == 0) {
    allowed.frequency = allowedFrequency(options.frequency, permissions, warnings);
  } else if (constexpr uint64_t kLeastPeriod = 1'000'000'000 / kMostFrequency;
             options.period < kLeastPeriod) {
    allowed.period = kLeastPeriod;
    warnings.push_back("asked for a sample every " + std::to_string(options.period) + " ns, recorded every " +
                       std::to_string(kLeastPeriod) + ": more could leave the program no time to run");
  }
  for (const Level& level : kLevels) {
    if (level.kernel ? options.userOnly : options.kernelOnly) continue;
    PlannedEvent event;
    event.event.attr = clockAttr(allowed, level.kernel, level.interruptRegisters);
    event.event.name = eventName(options, level.kernel);
    Attempt attempt{{std::move(event)}, level.kernel, warnings};
    if (!level.interruptRegisters)
      attempt.warnings.push_back(
          "the kernel refuses registers at the interrupt (kernel lockdown: " +
          permissions.lockdown.value_or("unknown") +
          "): recorded user registers instead, which is the same for samples in the program's own code");
    planned.plan.attempts.push_back(std::move(attempt));
  }
  return planned;
}

}  // namespace cacheline::record
