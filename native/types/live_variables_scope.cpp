// One walk over a function's DIEs. Variables that have no place anywhere are left out.
#include "types/live_variables_scope.h"

#include <dwarf.h>

#include <algorithm>

#include "symbols/die.h"

namespace cacheline::types {
namespace {

constexpr size_t kMostVariables = 1 << 16;  // of one function
constexpr size_t kMostLocations = 1 << 18;  // of all of them: lists may be shared, and lie

std::string nameOf(Dwarf_Die die) {
  for (int hop = 0; hop < symbols::kLongestReferenceChain; hop++) {
    if (const char* name = symbols::stringAttribute(die, DW_AT_name)) return name;
    const auto next = symbols::completion(die);
    if (!next) break;
    die = *next;
  }
  return {};
}

std::vector<CodeRange> rangesOf(Dwarf_Die die) {
  std::vector<CodeRange> found;
  symbols::forEachRange(die, [&](uint64_t low, uint64_t high) { found.push_back({low, high}); });
  return found;
}

/// DW_TAG_call_site, and what compilers wrote for it before DWARF 5.
void takeCall(Dwarf_Die& site, FunctionScopes& function) {
  auto callee = symbols::referenceAttribute(site, DW_AT_call_origin);
  if (!callee) callee = symbols::referenceAttribute(site, DW_AT_abstract_origin);
  Dwarf_Attribute attribute;
  Dwarf_Addr after = 0;
  if (!callee || (dwarf_attr(&site, DW_AT_call_return_pc, &attribute) == nullptr &&
                  dwarf_attr(&site, DW_AT_low_pc, &attribute) == nullptr))
    return;
  if (dwarf_formaddr(&attribute, &after) == 0) function.calls.emplace_back(after, *callee);
}

bool opensBlock(int tag) {
  switch (tag) {
    case DW_TAG_lexical_block:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool FunctionScopes::inScope(uint32_t scope, uint64_t address) const {
  for (; scope != CodeScope::kNone; scope = scopes[scope].parent) {
    const auto& code = scopes[scope].ranges;
    if (!code.empty() && std::none_of(code.begin(), code.end(),
                                      [&](const CodeRange& range) { return range.contains(address); }))
      return false;
  }
  return true;
}

uint32_t FunctionScopes::inlinesAt(uint64_t address) const {
  uint32_t deepest = 0;
  for (uint32_t id = 0; id < scopes.size(); id++)
    if (scopes[id].inlines > deepest && inScope(id, address)) deepest = scopes[id].inlines;
  return deepest;
}

FunctionScopes readFunction(symbols::DwarfIndex& dwarf, TypeTable& types, uint64_t address) {
  FunctionScopes function;
  symbols::Unit* unit = dwarf.units().at(address);
  if (unit == nullptr) return function;
  auto& tree = unit->functions();
  auto id = tree.find(address);
  if (!id) return function;
  while (tree.node(*id).parent != symbols::FunctionNode::kNone) id = tree.node(*id).parent;
  const Dwarf_Die root = unit->dieAt(tree.node(*id).die);
  if (root.addr == nullptr) return function;
  function.die = root;
  function.ranges = rangesOf(root);
  function.scopes.push_back({CodeScope::kNone, function.ranges, 0, dwarf.names().of(root)});
  std::vector<uint32_t> open{0};
  size_t locations = 0;
  symbols::walkDies(
      root,
      [&](Dwarf_Die& die, Dwarf_Off) {
        const int tag = dwarf_tag(&die);
        if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) {
          if (function.variables.size() >= kMostVariables || locations > kMostLocations) return false;
          ScopedVariable variable{nameOf(die), open.back(), kNoType, locationRanges(die)};
          locations += variable.locations.size();
          if (variable.locations.empty() && tag == DW_TAG_variable &&
              function.scopes[open.back()].inlines == 0) {
            const TypeId pointee = types.pointee(types.typeOf(die));
            if (pointee != kNoType) function.lost.push_back(pointee);
          }
          if (variable.locations.empty() || locations > kMostLocations) return false;
          variable.type = types.typeOf(die);
          if (variable.type != kNoType) function.variables.push_back(std::move(variable));
          return false;
        }
        if (tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site) takeCall(die, function);
        if (!opensBlock(tag)) return false;
        const CodeScope& around = function.scopes[open.back()];
        CodeScope scope{open.back(), rangesOf(die), around.inlines, around.function};
        if (tag == DW_TAG_inlined_subroutine) {
          scope.inlines++;
          scope.function = dwarf.names().of(die);
        }
        function.scopes.push_back(std::move(scope));
        open.push_back(static_cast<uint32_t>(function.scopes.size() - 1));
        return true;
      },
      [&] { open.pop_back(); });
  std::sort(function.calls.begin(), function.calls.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return function;
}

}  // namespace cacheline::types
