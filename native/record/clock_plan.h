// The plan of the clock collector: a timer interrupt a CPU, with the registers of the interrupted thread.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <string>
#include <vector>

#include "record/capability.h"
#include "record/event_plan.h"
#include "record/recorder.h"

namespace cacheline::record {

/// The most a recording samples, Hz a CPU. In a virtual machine a sample's interrupt takes about 20 us; at
/// 100 kHz, which the kernel grants, the program would never run again.
inline constexpr uint32_t kMostFrequency = 20'000;

/// `asked` Hz, or less where kernel.perf_event_max_sample_rate or kMostFrequency say so: then a warning is
/// added.
uint32_t allowedFrequency(uint32_t asked, const Permissions& permissions, std::vector<std::string>& warnings);

/// The registers of kX86SampleRegs: REGS_INTR, or REGS_USER where `interrupt` is false.
void addRegisters(perf_event_attr& attr, bool interrupt);

/// PERF_COUNT_SW_CPU_CLOCK at options.frequency Hz (or every options.period ns) with
/// IDENTIFIER|IP|TID|TIME|CPU|PERIOD, the call chain asked for, and addRegisters.
perf_event_attr clockAttr(const RecordOptions& options, bool kernel, bool interruptRegisters);

/// What each sample needs for its call chain; of branchStack nothing but the kernel's part.
void addCallGraph(perf_event_attr& attr, CallGraph callGraph);

/// First with the kernel, then without, then both with REGS_USER. A blocker where the options ask for what
/// this event does not have.
Planned planClock(const RecordOptions& options, const Permissions& permissions);

}  // namespace cacheline::record
