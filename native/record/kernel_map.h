// Where the kernel's own code lies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "perfdata/features.h"

namespace cacheline::record {

struct KernelMap {
  std::vector<uint8_t> records;                  ///< PERF_RECORD_MMAP of the kernel and of each module
  std::vector<perfdata::BuildIdEntry> buildIds;  ///< of the modules
};

/// Of the running kernel, so that samples in it have a mapping; empty where /proc/kallsyms hides its
/// addresses. The records end with a zeroed sample_id of `trailerBytes`. `root`: where /proc, /sys and /lib
/// are.
KernelMap kernelMap(size_t trailerBytes, const std::string& release, const std::string& root = {});

}  // namespace cacheline::record
