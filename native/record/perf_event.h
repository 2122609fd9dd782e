// Opens the clock collector's perf events: one per CPU, for a process and everything it starts.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "perfdata/event.h"
#include "record/capability.h"

namespace cacheline::record {

/// The system call, with PERF_FLAG_FD_CLOEXEC. errno says why where the result is empty.
UniqueFd perfEventOpen(const perf_event_attr& attr, pid_t pid, int cpu);

/// PERF_COUNT_SW_CPU_CLOCK at `frequency` Hz with IDENTIFIER|IP|TID|TIME|CPU|PERIOD and the registers of
/// kX86SampleRegs: REGS_INTR, or REGS_USER where `interruptRegisters` is false. Starts at the next exec.
perf_event_attr clockAttr(uint32_t frequency, bool callchains, bool kernel, bool interruptRegisters);

/// The most a recording samples, Hz a CPU. In a virtual machine a sample's interrupt takes about 20 us; at
/// 100 kHz, which the kernel grants, the program would never run again.
inline constexpr uint32_t kMostFrequency = 20'000;

/// `asked` Hz, or less where kernel.perf_event_max_sample_rate or kMostFrequency say so: then a warning is
/// added.
uint32_t allowedFrequency(uint32_t asked, const Permissions& permissions, std::vector<std::string>& warnings);

struct ClockEvents {
  perfdata::Event event;              ///< ids: one per CPU
  std::vector<UniqueFd> fds;          ///< beside event.ids
  std::vector<std::string> warnings;  ///< sentences for a person: what could not be had
  bool kernel = false;                ///< samples in the kernel are recorded too

  /// Stops the events and those inherited by every thread and child.
  void disable() const;
};

/// Opens the events on `pid` (0: the calling thread), asking for less on each attempt: first with the kernel,
/// then without, then both with REGS_USER. CPUs that went offline are left out. Throws Error(impossible).
ClockEvents openClockEvents(pid_t pid, const std::vector<uint32_t>& cpus, uint32_t frequency, bool callchains,
                            const Permissions& permissions);

}  // namespace cacheline::record
