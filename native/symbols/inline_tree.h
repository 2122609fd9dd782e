// The functions of one compilation unit with what was inlined into them, and the scopes their names are in.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbols/die_scan.h"
#include "symbols/interval_map.h"
#include "symbols/scope_tree.h"

namespace cacheline::symbols {

/// A function with code of its own, or one place where a function was inlined.
struct FunctionNode {
  static constexpr uint32_t kNone = UINT32_MAX;
  Dwarf_Off die = 0;
  uint32_t parent = kNone;  ///< the function it was inlined into; kNone for an out-of-line function
  uint32_t callFile = 0, callLine = 0, callColumn = 0;  ///< where in the parent; 0: unknown
  const std::string* name = nullptr;                    ///< resolved on first use
};

class InlineTree {
 public:
  InlineTree() = default;
  /// Reads all DIEs of a unit once. Ranges that do not begin in `code` (dropped by the linker) are left out.
  InlineTree(DieScan& unit, const IntervalMap& code);

  /// The innermost node at an address; follow `parent` for the chain outwards.
  std::optional<uint32_t> find(uint64_t address) const { return map_.find(address); }
  FunctionNode& node(uint32_t id) { return nodes_[id]; }
  const ScopeTree& scopes() const { return scopes_; }
  /// The address ranges of the out-of-line functions, with id 0: for a unit that does not state its own.
  std::vector<Interval> functionRanges;

 private:
  std::vector<FunctionNode> nodes_;
  ScopeTree scopes_;
  IntervalMap map_;
};

}  // namespace cacheline::symbols
