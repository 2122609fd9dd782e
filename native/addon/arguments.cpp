// Typed reading of JavaScript values.
#include "addon/arguments.h"

namespace cacheline::addon {
namespace {

[[noreturn]] void wrongType(Napi::Env env, const char* name, const char* wanted) {
  throw Napi::TypeError::New(env, std::string(name) + " must be " + wanted);
}

}  // namespace

Arguments::Arguments(const Napi::Value& value) {
  if (!value.IsObject()) wrongType(value.Env(), "the parameters", "an object");
  object_ = value.As<Napi::Object>();
}

Napi::Value Arguments::get(const char* name) const {
  return object_.Get(name);
}

std::string Arguments::text(const char* name) const {
  const Napi::Value value = get(name);
  if (value.IsUndefined()) return {};
  if (!value.IsString()) wrongType(value.Env(), name, "a string");
  return value.As<Napi::String>().Utf8Value();
}

double Arguments::number(const char* name, double fallback) const {
  const Napi::Value value = get(name);
  if (value.IsUndefined()) return fallback;
  if (!value.IsNumber()) wrongType(value.Env(), name, "a number");
  return value.As<Napi::Number>().DoubleValue();
}

bool Arguments::flag(const char* name, bool fallback) const {
  const Napi::Value value = get(name);
  if (value.IsUndefined()) return fallback;
  if (!value.IsBoolean()) wrongType(value.Env(), name, "a boolean");
  return value.As<Napi::Boolean>().Value();
}

std::vector<std::string> Arguments::texts(const char* name) const {
  const Napi::Value value = get(name);
  return value.IsUndefined() ? std::vector<std::string>{} : textArray(value, name);
}

std::vector<uint32_t> Arguments::numbers(const char* name) const {
  std::vector<uint32_t> numbers;
  const Napi::Value value = get(name);
  if (value.IsUndefined()) return numbers;
  if (!value.IsArray()) wrongType(value.Env(), name, "an array of numbers");
  const Napi::Array array = value.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); i++) {
    const Napi::Value item = array.Get(i);
    if (!item.IsNumber()) wrongType(value.Env(), name, "an array of numbers");
    numbers.push_back(item.As<Napi::Number>().Uint32Value());
  }
  return numbers;
}

std::optional<Arguments> Arguments::object(const char* name) const {
  const Napi::Value value = get(name);
  if (value.IsUndefined()) return std::nullopt;
  if (!value.IsObject()) wrongType(value.Env(), name, "an object");
  return Arguments(value);
}

Napi::Error Arguments::wrongValue(const char* name, const char* wanted) const {
  return Napi::RangeError::New(object_.Env(), std::string(name) + " must be " + wanted);
}

std::vector<std::string> textArray(const Napi::Value& value, const char* name) {
  if (!value.IsArray()) wrongType(value.Env(), name, "an array of strings");
  const Napi::Array array = value.As<Napi::Array>();
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < array.Length(); i++) {
    const Napi::Value item = array.Get(i);
    if (!item.IsString()) wrongType(value.Env(), name, "an array of strings");
    texts.push_back(item.As<Napi::String>().Utf8Value());
  }
  return texts;
}

}  // namespace cacheline::addon
