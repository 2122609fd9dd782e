// Calibrations that are kept in the user's cache, one for each CPU model.
#pragma once

#include <optional>
#include <string>

#include "calibration/calibration.h"

namespace cacheline::calibration {

/// The file of a CPU model: a readable part of its name, and a hash of name and id. Empty: there is no cache
/// folder.
std::string keptPath(const std::string& cpuModel, const std::string& cpuId);

/// Writes it in one step, in place of an older one of its model, and returns its path. Throws Error(io).
std::string keep(const Calibration& calibration);

/// Nullopt: none was kept. Throws Error(unreadable) that names the file where it cannot be used.
std::optional<Calibration> load(const std::string& cpuModel, const std::string& cpuId);

}  // namespace cacheline::calibration
