// The names of keys.
#include "tables/keys.h"

#include <algorithm>

namespace cacheline::tables {

const char* keyName(Key key) {
  switch (key) {
    case Key::line:
      return "line";
    case Key::object:
      return "object";
    case Key::type:
      return "type";
    case Key::member:
      return "member";
    case Key::allocation:
      return "allocation";
    case Key::function:
      return "function";
    case Key::symbol:
      return "symbol";
    case Key::source:
      return "source";
    case Key::file:
      return "file";
    case Key::thread:
      return "thread";
    case Key::process:
      return "process";
    case Key::cpu:
      return "cpu";
    case Key::node:
      return "node";
    case Key::time:
      return "time";
  }
  return "";
}

std::optional<Key> keyOf(std::string_view name) {
  for (const Key key : kKeys)
    if (name == keyName(key)) return key;
  return std::nullopt;
}

analysis::SplitBy splitsFor(const std::vector<Key>& keys, uint32_t bins) {
  const auto has = [&](Key key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); };
  return {.cpus = has(Key::cpu) || has(Key::node), .bins = has(Key::time) ? bins : 0};
}

}  // namespace cacheline::tables
