// The workset call: working sets against the machine's caches, as the JSON text of cacheline-workset/1.
#pragma once

#include <napi.h>

namespace cacheline::addon {

/// (params, onProgress) -> job. Parameters are those of advise.
Napi::Value worksetCall(const Napi::CallbackInfo& info);

}  // namespace cacheline::addon
