// The calls about open profiles: open, filter, the questions, close. They answer with JSON text.
#pragma once

#include <napi.h>

namespace cacheline::addon {

/// A job of { handle, summary }.
Napi::Value openCall(const Napi::CallbackInfo& info);
/// A job of the new summary.
Napi::Value filterCall(const Napi::CallbackInfo& info);
/// A job of the answer.
Napi::Value askCall(const Napi::CallbackInfo& info);
/// What is asked already is still answered.
void closeCall(const Napi::CallbackInfo& info);

}  // namespace cacheline::addon
