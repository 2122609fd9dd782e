// The JSON of a calibration (schema cacheline-calibration/1, docs/cacheline-calibration-1.schema.json).
#pragma once

#include <rapidjson/document.h>

#include <string>
#include <string_view>

#include "calibration/calibration.h"

namespace cacheline::calibration {

/// One JSON object, without a newline. Texts that are no UTF-8 get U+FFFD for each wrong byte.
std::string toJson(const Calibration& calibration);

/// Each class has 1 to kMostPoints points; numbers are finite, not negative and at most kMostNs (or counts).
/// Unknown members are passed over. Throws Error(unreadable) that names the first member that is wrong.
Calibration parse(std::string_view json);
/// The same of a part of a document, as meta.json's "calibration".
Calibration parse(const rapidjson::Value& value);

inline constexpr size_t kMostPoints = 64;
inline constexpr double kMostNs = 1e9;
/// Bytes; longer texts are no calibration.
inline constexpr size_t kMostJson = size_t{1} << 20;

}  // namespace cacheline::calibration
