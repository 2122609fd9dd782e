// What tables are made by: one key, two or three.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/splits.h"

namespace cacheline::tables {

enum class Key : uint8_t {
  line,
  object,
  type,
  member,
  allocation,
  function,
  symbol,
  source,
  file,
  thread,
  process,
  cpu,
  node,
  time
};
inline constexpr std::array kKeys{Key::line,     Key::object, Key::type,   Key::member, Key::allocation,
                                  Key::function, Key::symbol, Key::source, Key::file,   Key::thread,
                                  Key::process,  Key::cpu,    Key::node,   Key::time};
inline constexpr size_t kMostKeys = 3;  ///< of one table

const char* keyName(Key key);  ///< as --by spells it
/// Empty: no key has that name.
std::optional<Key> keyOf(std::string_view name);

/// What a report has to tell apart for a table. `bins`: parts of the time, where that is a key; at least 1.
analysis::SplitBy splitsFor(const std::vector<Key>& keys, uint32_t bins);

}  // namespace cacheline::tables
