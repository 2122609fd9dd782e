// What a recorder says about its SPE recording: the private words of the record AUXTRACE_INFO.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cacheline::spe {

/// The type in AUXTRACE_INFO that stands for SPE.
inline constexpr uint32_t kAuxtraceTypeSpe = 4;

struct SpeCpu {
  uint32_t cpu = 0;
  uint64_t midr = 0;  ///< MIDR_EL1, the CPU's model; 0: unknown
};

struct SpeInfo {
  uint32_t version = 1;
  uint64_t pmuType = 0;      ///< perf_event_attr.type of SPE's events
  std::vector<SpeCpu> cpus;  ///< ascending; empty in version 1, which does not name models

  /// The model of `cpu`; where that is negative (unknown), of all CPUs if they are of one model. 0: unknown.
  /// `fallback` is the answer of version 1: the model of one CPU, from the header feature CPUID.
  uint64_t midrOf(int32_t cpu, uint64_t fallback) const;
};

/// Reads the words after `type` and its padding. Layouts, from tools/perf/util/arm-spe.h of Linux:
///
///     version 1   PMU type, whether there is one buffer a CPU
///     version 2   version (>= 2), words of this header, PMU type, number of CPUs; then for each CPU:
///                 magic 0x1010101010101010, CPU, number n of words that follow, MIDR, PMU type, ...
///
/// Throws Error(unreadable) with the value seen; `fileOffset` of the record is for the message.
SpeInfo readInfo(std::span<const uint64_t> words, uint64_t fileOffset);

}  // namespace cacheline::spe
