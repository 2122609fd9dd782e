// Reads the parameter objects of the addon's calls; a wrong type is a TypeError that names the property.
#pragma once

#include <napi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cacheline::addon {

class Arguments {
 public:
  explicit Arguments(const Napi::Value& value);
  std::string text(const char* name) const;  ///< "" where absent
  double number(const char* name, double fallback) const;
  bool flag(const char* name, bool fallback = false) const;
  std::vector<std::string> texts(const char* name) const;
  std::vector<uint32_t> numbers(const char* name) const;  ///< whole numbers; empty where absent
  std::optional<Arguments> object(const char* name) const;
  /// The error that says what a property may be.
  Napi::Error wrongValue(const char* name, const char* wanted) const;

 private:
  Napi::Value get(const char* name) const;
  Napi::Object object_;
};

std::vector<std::string> textArray(const Napi::Value& value, const char* name);

}  // namespace cacheline::addon
