// Names of types in units that others refer to, as link-time optimization leaves them.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "types/scopes.h"

namespace cacheline::types {

/// Not thread-safe, like libdw.
class UnitNames {
 public:
  /// `names`: for the template arguments that compilers leave out of names.
  explicit UnitNames(Scopes& names) : names_(names) {}
  /// Hash of a type's name and those of its scopes, from its unit on; 0: it has none. Its unit is read at the
  /// first question.
  uint64_t of(const Dwarf_Die& die);

 private:
  using Named = std::vector<std::pair<const void*, uint64_t>>;  ///< ascending
  Named read(Dwarf_CU* unit);

  Scopes& names_;
  std::unordered_map<Dwarf_CU*, Named> units_;
};

}  // namespace cacheline::types
