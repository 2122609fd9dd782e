// Which perf events a collector wants, before any of them is opened. Plans are values: made from sysfs and
// options, judged in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "perfdata/event.h"
#include "record/doctor.h"

namespace cacheline::record {

struct PlannedEvent {
  perfdata::Event event;       ///< attr and name; ids are filled in where it is opened
  std::vector<uint32_t> cpus;  ///< that have its PMU; empty: all
  int leader = -1;             ///< index of its group's leader in the attempt; -1: it leads itself
  size_t auxBytes = 0;         ///< AUX area a CPU (Arm SPE); 0: none
  /// precise_ip may fall, step by step, where the kernel refuses the one asked for (perf's :P).
  bool precisionMayFall = false;
};

/// Events that are opened all together or not at all.
struct Attempt {
  std::vector<PlannedEvent> events;
  bool kernel = false;                ///< samples in the kernel are recorded, too
  std::vector<std::string> warnings;  ///< said where this attempt is the one that works
};

/// What a collector tries, from most to least demanding.
struct EventPlan {
  std::string collector;  ///< "pmu", "clock"
  std::vector<Attempt> attempts;
  std::optional<uint32_t> ldlat;  ///< cycles: faster loads are not sampled; empty: there is no such filter
  bool wholeMachineOnly = false;  ///< the PMU cannot follow a process (AMD IBS before Linux 6.2, ...)
  std::vector<uint8_t> preamble;  ///< whole perf records for the file's start (PERF_RECORD_AUXTRACE_INFO)
};

/// A plan, or why there is none.
struct Planned {
  EventPlan plan;                 ///< without attempts where there are blockers
  std::vector<Blocker> blockers;  ///< what is in the way, and what lifts it
};

}  // namespace cacheline::record
