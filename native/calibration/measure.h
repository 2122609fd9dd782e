// Measures what contention costs on this machine.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibration/calibration.h"

namespace cacheline::calibration {

/// Where a CPU is; -1: not known.
struct CpuPlace {
  uint32_t cpu = 0;
  int32_t socket = -1, core = -1;  ///< physical_package_id and core_id of sysfs
};

/// The CPUs that the calling thread may run on, ascending.
std::vector<uint32_t> allowedCpus();

/// Two CPUs to measure on: on one socket and different cores; else on different sockets; else two threads of
/// one core, or where nothing is known of them. Of equal pairs the first. Nullopt: fewer than two.
std::optional<std::array<uint32_t, 2>> choosePair(const std::vector<CpuPlace>& places);

struct MeasureOptions {
  std::string cpuModel, cpuId, date;  ///< as Calibration has them
  std::vector<CpuPlace> places;       ///< of the CPUs that may be used
  double seconds = 0.5;  ///< to take where nothing disturbs it, and up to four times as many else
};

/// Sweeps over the work between two accesses for each class: 64 points of time in short slices, the three
/// forms of a point one after the other, again and again.
/// Throws Error(impossible) where there are no two CPUs, or too busy ones; Error(cancelled) after `stop`.
Calibration measure(const MeasureOptions& options, const std::atomic<bool>& stop);

}  // namespace cacheline::calibration
