// Which samples the user's filters keep.
#pragma once

#include <linux/perf_event.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace cacheline::analysis {

/// Which samples count; the others are left out as if never recorded.
struct Filter {
  enum class Mode : uint8_t { all, user, kernel };
  Mode mode = Mode::all;
  double from = 0,
         to = std::numeric_limits<double>::infinity();    ///< seconds since the first sample, [from, to]
  std::vector<uint32_t> pids = {}, tids = {}, cpus = {};  ///< empty: all
  std::vector<uint32_t> notPids = {}, notTids = {}, notCpus = {};  ///< of those, all but these
  bool none = false;                                               ///< no sample passes
  bool hasWindow() const { return from > 0 || to != std::numeric_limits<double>::infinity(); }
  bool hasCpus() const { return !cpus.empty() || !notCpus.empty(); }
  bool any() const {
    return mode != Mode::all || hasWindow() || none || hasCpus() || !pids.empty() || !tids.empty() ||
           !notPids.empty() || !notTids.empty();
  }
};

/// By the mode that the record's header names.
inline bool isKernelMode(uint16_t misc) {
  // Modes alternate from sample to sample: no branch.
  constexpr unsigned kModes =
      1u << PERF_RECORD_MISC_KERNEL | 1u << PERF_RECORD_MISC_HYPERVISOR | 1u << PERF_RECORD_MISC_GUEST_KERNEL;
  return ((kModes >> (misc & PERF_RECORD_MISC_CPUMODE_MASK)) & 1) != 0;
}

/// The same by the address, too: the upper half of the x86-64 address space is the kernel's.
template <typename Sample>
bool isKernel(const Sample& sample) {
  return isKernelMode(sample.misc) || (sample.ip >> 63) != 0;
}

/// `firstTime`: of the recording's samples, ns.
template <typename Sample>
bool isKept(const Filter& filter, const Sample& sample, bool kernelMode, uint64_t firstTime) {
  const auto holds = [](const std::vector<uint32_t>& list, uint32_t number) {
    return std::find(list.begin(), list.end(), number) != list.end();
  };
  const auto passes = [&](const std::vector<uint32_t>& list, const std::vector<uint32_t>& without,
                          uint32_t number) {
    return (list.empty() || holds(list, number)) && !holds(without, number);
  };
  if (filter.none) return false;
  if (filter.mode != Filter::Mode::all && (filter.mode == Filter::Mode::kernel) != kernelMode) return false;
  const double seconds = static_cast<double>(sample.time - std::min(sample.time, firstTime)) / 1e9;
  return seconds >= filter.from && seconds <= filter.to && passes(filter.pids, filter.notPids, sample.pid) &&
         passes(filter.tids, filter.notTids, sample.tid) && passes(filter.cpus, filter.notCpus, sample.cpu);
}

/// A filter over samples that come in time order: the first one, kept or not, is where time windows begin.
class SampleFilter {
 public:
  explicit SampleFilter(const Filter& filter) : filter_(filter), any_(filter.any()) {}

  /// Where they begin, ns, where that is known before.
  void beginWindows(uint64_t firstTime) { firstTime_ = firstTime; }
  std::optional<uint64_t> firstTime() const { return firstTime_; }  ///< where they begin, once that is known
  /// `sample`: of the recording, or another event of it with the same fields.
  template <typename Sample>
  bool keeps(const Sample& sample, bool kernelMode) {
    if (!firstTime_) firstTime_ = sample.time;
    return !any_ || isKept(filter_, sample, kernelMode, *firstTime_);
  }

 private:
  const Filter& filter_;
  const bool any_;
  std::optional<uint64_t> firstTime_;  ///< ns
};

}  // namespace cacheline::analysis
