// The table call: a recording added up by keys.
#pragma once

#include <napi.h>

namespace cacheline::addon {

/// Parameters as of analyze, with `by` (names of one key or two) and `bins`; resolves with the pieces of
/// `cacheline-table/1`.
Napi::Value tableCall(const Napi::CallbackInfo& info);

}  // namespace cacheline::addon
