// The threads call: what the threads of a recording did over time, as the JSON text of cacheline-threads/1.
#pragma once

#include <napi.h>

namespace cacheline::addon {

/// (params, onProgress) -> job. Parameters are those of advise, without CPUs and modes, and `bins`.
Napi::Value threadsCall(const Napi::CallbackInfo& info);

}  // namespace cacheline::addon
