// The header features of a recording: from bytes to values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "perfdata/features.h"
#include "perfdata/file_header.h"

namespace cacheline::perfdata {

/// Reads the feature sections that Features has a place for. EVENT_DESC gives header.events their names. A
/// section that says it holds more than it does is kept as far as it goes, with a sentence in
/// header.warnings.
Features readFeatures(std::span<const uint8_t> file, const std::string& name, FileHeader& header);

}  // namespace cacheline::perfdata
