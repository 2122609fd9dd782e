// What a recording's samples say should be changed.
#pragma once

#include <napi.h>

namespace cacheline::addon {

/// (parameters as of open, progress): a job that resolves with the document of advice::adviceJson().
Napi::Value adviseCall(const Napi::CallbackInfo& info);

}  // namespace cacheline::addon
