// The DIEs of one unit that names can be nested in.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "symbols/die_scan.h"

namespace cacheline::symbols {

class ScopeTree {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// A namespace, type, function or block, over [begin, end) of the section's DIEs.
  struct Scope {
    Dwarf_Off begin = 0, end = 0;
    uint32_t parent = kNone;
  };

  static bool isScope(int tag);
  /// Empty: to be filled in a walk over what isScope().
  ScopeTree() = default;
  /// Reads all DIEs of a unit once.
  explicit ScopeTree(DieScan& unit);

  /// To be called in the order of the DIEs.
  uint32_t open(Dwarf_Off begin, uint32_t parent);
  void close(uint32_t scope, Dwarf_Off end) { scopes_[scope].end = end; }

  /// The innermost scope that the DIE at `offset` is in; its own does not count. kNone: it is at the top of
  /// its unit.
  uint32_t around(Dwarf_Off offset) const;
  const Scope& operator[](uint32_t scope) const { return scopes_[scope]; }

 private:
  std::vector<Scope> scopes_;  ///< ascending by begin
};

}  // namespace cacheline::symbols
