// Opens the events of a plan on every CPU and thread of a target.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/unique_fd.h"
#include "record/capability.h"
#include "record/event_plan.h"
#include "record/kernel.h"
#include "record/source.h"
#include "record/target.h"

namespace cacheline::record {

struct PerfSetup {
  size_t ringBytes = 0;       ///< a CPU; rounded up to a power of two; 0: 512 KiB
  bool enableOnExec = false;  ///< sampling begins with the command; else by enable()
  /// What programs map, start and end is recorded also while sampling is disabled, by an event of its own.
  bool tracking = false;
  /// When threads are put on CPUs and taken off them is recorded, too, while sampling is on.
  bool switches = true;
};

/// One perf_event_open that succeeded.
struct OpenEvent {
  UniqueFd fd;
  size_t event = 0;  ///< index in the attempt
  uint32_t cpu = 0;
  uint64_t id = 0;
  pid_t thread = -1;  ///< -1: all
};

bool isTracking(const perf_event_attr& attr);

class PerfOpener {
 public:
  /// `kernel` is kept.
  PerfOpener(const Kernel& kernel, Target target, const PerfSetup& setup);
  /// All events of the attempt, or none: 0, or the errno of the one that was refused. precise_ip falls where
  /// the attempt allows it. ESRCH: the target has ended.
  int open(const Attempt& attempt);
  /// One more thread or process, at the end of `events`: 0, or the errno for which it is not open at all.
  int openThread(pid_t thread);

  Attempt attempt;                ///< as it was opened: attributes, ids, warnings
  std::vector<OpenEvent> events;  ///< by thread, CPU, and the order of the attempt

  /// Of `attempt`, once it is open.
  SwitchRecords switches() const;

 private:
  int openTarget();
  int openOn(pid_t thread, uint32_t cpu);
  bool lowerPrecision(int errnum);
  perf_event_attr attributeOf(const PlannedEvent& planned) const;
  void addTracking();
  void addSwitches();

  const Kernel& kernel_;
  const bool countsLost_;      // Linux 6.0
  const int refusesSwitches_;  // errno where the kernel does not record them (Linux before 4.3); else 0
  const Target target_;
  const PerfSetup setup_;
  std::vector<uint32_t> cpus_;
  bool inherit_ = true, inheritThread_ = false;
  size_t refused_ = 0;  // index of the event that was
};

}  // namespace cacheline::record
