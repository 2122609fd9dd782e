// The calls about types: layout, types, declarations. They answer with promises of JSON text.
#pragma once

#include <napi.h>

namespace cacheline::addon {

Napi::Value layoutCall(const Napi::CallbackInfo& info);
Napi::Value typesCall(const Napi::CallbackInfo& info);
Napi::Value declarationsCall(const Napi::CallbackInfo& info);

}  // namespace cacheline::addon
