// One walk over a function's DIEs. Variables that have no place anywhere are left out.
#include "inference/function_scopes.h"

#include <dwarf.h>

#include <algorithm>

#include "inference/location_reader.h"
#include "symbols/die.h"
#include "symbols/range_lists.h"

namespace cacheline::inference {

using types::kNoType;
using types::TypeTable;

namespace {

constexpr size_t kMostVariables = 1 << 16;  // of one function
constexpr size_t kMostLocations = 1 << 18;  // of all of them: lists may be shared, and lie

std::vector<CodeRange> rangesOf(Dwarf_Die die) {
  std::vector<CodeRange> found;
  symbols::forEachRange(die, [&](uint64_t low, uint64_t high) { found.push_back({low, high}); });
  return found;
}

/// DW_TAG_call_site, and what compilers wrote for it before DWARF 5.
void takeCall(Dwarf_Die& callSite, FunctionScopes& function) {
  auto callee = symbols::referenceAttribute(callSite, DW_AT_call_origin);
  if (!callee) callee = symbols::referenceAttribute(callSite, DW_AT_abstract_origin);
  Dwarf_Attribute attribute;
  Dwarf_Addr after = 0;
  if (!callee || (dwarf_attr(&callSite, DW_AT_call_return_pc, &attribute) == nullptr &&
                  dwarf_attr(&callSite, DW_AT_low_pc, &attribute) == nullptr))
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

bool isVariable(int tag) {
  return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}
bool isCall(int tag) {
  return tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site;
}

class FunctionReader {
 public:
  FunctionReader(symbols::DieScan& scan, TypeTable& types, FunctionScopes& function)
      : scan_(scan), types_(types), function_(function), lists_(function.die) {}

  void read(Dwarf_Off root) {
    function_.scopes.push_back({CodeScope::kNone, function_.ranges, 0, function_.die});
    scan_.walkBelow(
        root, [](int tag) { return isVariable(tag) || isCall(tag) || opensBlock(tag); },
        [this](symbols::DieScan::Here& here) { return enter(here); },
        [this](Dwarf_Off) { open_.pop_back(); });
  }

 private:
  bool enter(symbols::DieScan::Here& here) {
    if (isVariable(here.tag)) {
      takeVariable(here);
      return false;
    }
    if (isCall(here.tag)) {
      takeCall(here.die, function_);
      return false;
    }
    const CodeScope& around = function_.scopes[open_.back()];
    CodeScope scope{open_.back(), rangesOf(here), around.inlines, around.function};
    if (here.tag == DW_TAG_inlined_subroutine) {
      scope.inlines++;
      scope.function = here.die;
    }
    function_.scopes.push_back(std::move(scope));
    open_.push_back(static_cast<uint32_t>(function_.scopes.size() - 1));
    return true;
  }

  std::vector<CodeRange> rangesOf(symbols::DieScan::Here& here) {
    const auto code = scan_.codeOf(here);
    if (code && code->listed) {
      if (!ranges_) ranges_.emplace(here.die);
      if (const auto* listed = ranges_->of(scan_, here)) {
        std::vector<CodeRange> found;
        for (const auto& [low, high] : *listed) found.push_back({low, high});
        return found;
      }
    }
    if (!code || code->listed) return inference::rangesOf(here.die);
    return code->high > code->low ? std::vector<CodeRange>{{code->low, code->high}}
                                  : std::vector<CodeRange>{};
  }

  void takeVariable(symbols::DieScan::Here& here) {
    if (function_.variables.size() >= kMostVariables || locations_ > kMostLocations) return;
    bool typed = false;
    std::optional<symbols::DieScan::Raw> location;
    std::optional<Dwarf_Die> origin;
    scan_.forEachAttribute(here, [&](const symbols::DieScan::Raw& attribute) {
      if (attribute.name == DW_AT_location) location = attribute;
      typed |= attribute.name == DW_AT_type;
      if (attribute.name == DW_AT_abstract_origin) origin = scan_.targetOf(attribute);
    });
    // Most are inlined: what completes them is known here, and has the type.
    const auto type = [&] { return types_.typeOf(origin && !typed ? *origin : here.die); };
    ScopedVariable variable{here.die, open_.back(), kNoType, {}};
    if (location) {
      auto read = lists_.read(*location);
      variable.locations = read ? std::move(*read) : locationRanges(here.die);
    }
    locations_ += variable.locations.size();
    if (!variable.locations.empty()) {
      if (locations_ > kMostLocations) return;
      variable.type = type();
      if (variable.type != kNoType) function_.variables.push_back(std::move(variable));
    } else if (here.tag == DW_TAG_variable && function_.scopes[open_.back()].inlines == 0) {
      const types::TypeId pointee = types_.pointee(type());
      if (pointee != kNoType) function_.lost.push_back(pointee);
    }
  }

  symbols::DieScan& scan_;
  TypeTable& types_;
  FunctionScopes& function_;
  LocationLists lists_;
  std::optional<symbols::RangeLists> ranges_;  ///< opened when a block has a list
  std::vector<uint32_t> open_{0};
  size_t locations_ = 0;
};

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

std::string nameOf(const ScopedVariable& variable) {
  const char* name = symbols::alongChain(
      variable.die, [](Dwarf_Die& die) { return symbols::stringAttribute(die, DW_AT_name); });
  return name != nullptr ? name : "";
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
  FunctionReader(unit->scan(), types, function).read(tree.node(*id).die);
  std::sort(function.calls.begin(), function.calls.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return function;
}

}  // namespace cacheline::inference
