// The call `calibrate`: measures what contention costs, and keeps it for recordings to come.
#pragma once

#include <atomic>
#include <string>

namespace cacheline::addon {

/// JSON (CalibrationResult of extension/protocol/calibration.ts): `measured`, or null and the `reason`; the
/// `file` it was kept in, or null and the `reason`. Throws Error(cancelled) after `stop`.
std::string calibrate(const std::atomic<bool>& stop);

}  // namespace cacheline::addon
