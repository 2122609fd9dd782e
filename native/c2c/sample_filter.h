// Which samples the user's filters keep.
#pragma once

#include <linux/perf_event.h>

#include <algorithm>
#include <cstdint>

#include "c2c/options.h"
#include "perfdata/reader.h"

namespace cacheline::c2c {

inline bool isKernelMode(uint16_t misc) {
  // Modes alternate from sample to sample: no branch.
  constexpr unsigned kModes =
      1u << PERF_RECORD_MISC_KERNEL | 1u << PERF_RECORD_MISC_HYPERVISOR | 1u << PERF_RECORD_MISC_GUEST_KERNEL;
  return ((kModes >> (misc & PERF_RECORD_MISC_CPUMODE_MASK)) & 1) != 0;
}

/// `firstTime`: of the recording's samples, ns.
template <typename Sample>
bool isKept(const Filter& filter, const Sample& sample, bool kernelMode, uint64_t firstTime) {
  const auto inList = [](const std::vector<uint32_t>& list, uint32_t number) {
    return list.empty() || std::find(list.begin(), list.end(), number) != list.end();
  };
  if (filter.mode != Filter::Mode::all && (filter.mode == Filter::Mode::kernel) != kernelMode) return false;
  const double seconds = static_cast<double>(sample.time - std::min(sample.time, firstTime)) / 1e9;
  return seconds >= filter.from && seconds <= filter.to && inList(filter.pids, sample.pid) &&
         inList(filter.tids, sample.tid) && inList(filter.cpus, sample.cpu);
}

}  // namespace cacheline::c2c
