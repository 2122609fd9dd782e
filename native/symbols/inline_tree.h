// The functions of one compilation unit with what was inlined into them, and the scopes their names are in.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "symbols/die_scan.h"
#include "symbols/interval_map.h"
#include "symbols/scope_tree.h"

namespace cacheline::symbols {

/// A function with code of its own, or one place where a function was inlined.
struct FunctionNode {
  static constexpr uint32_t kNone = UINT32_MAX;
  Dwarf_Off die = 0;
  Dwarf_Off origin = 0;     ///< the DIE of the same unit that has its name; 0: not read, ask `die`
  uint32_t parent = kNone;  ///< the function it was inlined into; kNone for an out-of-line function
  uint32_t callFile = 0, callLine = 0, callColumn = 0;  ///< where in the parent; 0: unknown
  uint32_t codeSize = 0;                                ///< bytes, with what was inlined into it
};

class InlineTree {
 public:
  InlineTree() = default;
  /// Reads all DIEs of a unit once. Ranges that do not begin in `code` (dropped by the linker) are left out.
  InlineTree(DieScan& unit, const IntervalMap& code);

  /// The innermost node at an address; follow `parent` for the chain outwards.
  std::optional<uint32_t> find(uint64_t address) const { return map_.find(address); }
  const FunctionNode& node(uint32_t id) const { return nodes_[id]; }
  const ScopeTree& scopes() const { return scopes_; }
  /// The address ranges of the out-of-line functions, with id 0: for a unit that does not state its own.
  std::vector<Interval> functionRanges;

 private:
  std::vector<FunctionNode> nodes_;
  ScopeTree scopes_;
  IntervalMap map_;
};

/// The tree of one unit, read once for all who have its file's debug information open, each in a thread of
/// its own.
class SharedInlineTree {
 public:
  /// `read()` makes the tree where nobody has; who comes meanwhile waits.
  template <typename Read>
  const InlineTree& get(Read&& read) {
    std::call_once(once_, [&] { tree_ = read(); });
    return tree_;
  }

 private:
  std::once_flag once_;
  InlineTree tree_;
};

/// Those of a file's compile units, by their number. Thread-safe.
class InlineTrees {
 public:
  std::shared_ptr<SharedInlineTree> of(uint32_t unit) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<SharedInlineTree>& tree = trees_[unit];
    if (!tree) tree = std::make_shared<SharedInlineTree>();
    return tree;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<uint32_t, std::shared_ptr<SharedInlineTree>> trees_;
};

}  // namespace cacheline::symbols
