// The parameters of the call `record`.
#pragma once

#include <optional>
#include <string>

#include "addon/arguments.h"
#include "addon/watch_words.h"
#include "record/recorder.h"

namespace cacheline::addon {

/// RecordParams of extension/protocol/engine.ts but for `stdio`. Throws a RangeError or TypeError that names
/// the property. `folder`: where this addon lies, with the agents beside it; ends with a slash.
record::RecordOptions recordOptions(const Arguments& arguments, const std::string& folder);

/// Its `watch`; empty where there is none. Throws as recordOptions().
std::optional<WatchRequest> watchRequest(const Arguments& arguments);

}  // namespace cacheline::addon
