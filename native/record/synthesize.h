// Records of what was there before the recording began, made from /proc: what the kernel reports only while
// it happens.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace cacheline::record {

/// Bytes of the sample_id at the end of every record but samples (linux/perf_event.h, struct sample_id).
size_t sampleIdBytes(const perf_event_attr& attr);

/// COMM of every thread, FORK of all but the first, and MMAP2 (data included) of a process, each with a
/// zeroed sample_id of `trailerBytes`: a record without time holds from where it stands in the file. Nothing
/// of a process that has ended.
void synthesizeProcess(pid_t process, size_t trailerBytes,
                       const std::function<void(std::span<const uint8_t>)>& append);

/// Every process that /proc shows.
std::vector<pid_t> allProcesses();

}  // namespace cacheline::record
