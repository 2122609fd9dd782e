// One walk over a unit's DIEs; nested ranges become disjoint intervals in which the deepest inline wins.
#include "symbols/inline_tree.h"

#include <algorithm>

#include "symbols/die.h"
#include "symbols/range_lists.h"

namespace cacheline::symbols {
namespace {

uint32_t narrow(uint64_t value) {
  return value <= UINT32_MAX ? static_cast<uint32_t>(value) : 0;
}

}  // namespace

InlineTree::InlineTree(DieScan& scan, const IntervalMap& code) {
  struct Open {
    uint32_t scope;     ///< the scope being visited
    uint32_t function;  ///< the node that code in it belongs to, or kNone
    uint64_t depth;     ///< how many inlines deep
  };
  std::vector<Open> open{{ScopeTree::kNone, FunctionNode::kNone, 0}};
  std::vector<Interval> intervals;
  std::optional<RangeLists> lists;
  const auto listsOf = [&](Dwarf_Die die) -> RangeLists& { return lists ? *lists : lists.emplace(die); };

  const auto enter = [&](DieScan::Here& found) {
    const int tag = found.tag;
    const Dwarf_Off offset = found.offset;
    Open here = open.back();
    if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
      const bool inlined = tag == DW_TAG_inlined_subroutine;
      const auto id = static_cast<uint32_t>(nodes_.size());
      const uint64_t depth = inlined ? here.depth + 1 : 0;
      uint64_t codeSize = 0;
      const auto addRange = [&](Dwarf_Addr low, Dwarf_Addr high) {
        if (!code.find(low)) return;
        intervals.push_back({low, high, depth, id});
        if (!inlined) functionRanges.push_back({low, high, 0, 0});
        codeSize += high - low;
      };
      auto usual = scan.codeOf(found);
      const auto* listed = usual && usual->listed ? listsOf(found.die).of(scan, found) : nullptr;
      if (listed != nullptr)
        for (const auto& [low, high] : *listed) addRange(low, high);
      else if (!usual || usual->listed)
        forEachRange(found.die, addRange);
      else if (usual->high > usual->low)
        addRange(usual->low, usual->high);
      if (codeSize > 0) {
        FunctionNode node{offset, usual ? usual->origin : 0, FunctionNode::kNone, 0, 0, 0, narrow(codeSize)};
        if (inlined) {
          node.parent = here.function;
          if (!usual)
            usual = DieScan::Code{0,
                                  0,
                                  0,
                                  unsignedAttribute(found.die, DW_AT_call_file).value_or(0),
                                  unsignedAttribute(found.die, DW_AT_call_line).value_or(0),
                                  unsignedAttribute(found.die, DW_AT_call_column).value_or(0),
                                  true};
          node.callFile = narrow(usual->callFile);
          node.callLine = narrow(usual->callLine);
          node.callColumn = narrow(usual->callColumn);
        }
        nodes_.push_back(node);
        here = {here.scope, id, depth};
      } else if (!inlined) {
        here = {here.scope, FunctionNode::kNone,
                0};  // an abstract function: what is nested in it stands alone
      }
    }
    here.scope = scopes_.open(offset, here.scope);
    open.push_back(here);
    return true;
  };
  scan.walk(ScopeTree::isScope, enter, [&](Dwarf_Off end) {
    scopes_.close(open.back().scope, end);
    open.pop_back();
  });
  map_ = IntervalMap(std::move(intervals));
  nodes_.shrink_to_fit();
}

}  // namespace cacheline::symbols
