// How a recording is described in its meta.json and header, and the sentence on one with few samples.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "perfdata/event.h"
#include "record/recorder.h"

namespace cacheline::record {

/// Rate or period of the event that samples.
struct Rate {
  uint32_t frequency = 0;  ///< Hz; 0: by period
  uint64_t period = 0;
};
Rate rateOf(const std::vector<perfdata::Event>& events);

/// Samples in the kernel are recorded, too.
bool samplesKernel(const std::vector<perfdata::Event>& events);

/// The command that makes such a recording, for perf.data's header.
std::vector<std::string> commandLine(const RecordOptions& options, const Rate& rate);

/// ISO 8601, UTC, with milliseconds.
std::string isoTime(const timespec& time);

/// Resolved where it exists; empty: the working folder.
std::string absolutePath(const std::string& path);

/// Enough that none at all has a reason. `frequency`: of the samples, in Hz; 0: they were taken by period.
bool samplesWereDue(uint32_t frequency, double cpuSeconds);

/// Why so few.
std::string fewSamplesText(const RecordOptions& options, const RecordResult& result);

}  // namespace cacheline::record
