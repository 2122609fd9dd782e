// Which events sample memory accesses on this machine, with addresses and data sources: what `perf c2c
// record` would open, read from sysfs and never from a list of CPU models. Verified against perf's own
// encodings on made-up sysfs trees, and on no real machine.
#pragma once

#include <string>

#include "record/capability.h"
#include "record/event_plan.h"
#include "record/kernel.h"
#include "record/recorder.h"

namespace cacheline::record {

/// perf's default, of every event and CPU: the memory PMU's own where no frequency was asked for.
inline constexpr uint32_t kMemoryFrequency = 4000;

/// The plan for Intel's mem-loads and mem-stores, AMD's ibs_op or Arm's arm_spe_N, or what is in the way.
/// Reads kernel.sysfs; of AMD it also tries perf_event_open, as nothing else says whether the kernel lets IBS
/// follow a process. Never throws: what is wrong with sysfs or an option is a blocker.
Planned planMemory(const Kernel& kernel, const RecordOptions& options, const Permissions& permissions);

/// Why the kernel refused every attempt of such a plan; `errnum` is that of the last one.
Blocker explainMemoryRefusal(int errnum, const EventPlan& plan, const Permissions& permissions);

}  // namespace cacheline::record
