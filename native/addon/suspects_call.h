// Looks at recordings while they are made.
#pragma once

#include <napi.h>

namespace cacheline::addon {

/// {path}: a job whose result is the text of findSuspects(). What it reads of the binaries is kept for the
/// next look at the recording of that path.
Napi::Value suspectsCall(const Napi::CallbackInfo& info);
/// {path}: there will be no more looks.
Napi::Value forgetCall(const Napi::CallbackInfo& info);

}  // namespace cacheline::addon
