// Scopes of types: one walk over a unit's DIEs finds what encloses what; names are made when they are asked
// for.
#include "types/scopes.h"

#include <algorithm>
#include <cctype>

#include "symbols/die.h"
#include "symbols/die_scan.h"
#include "symbols/module.h"

namespace cacheline::types {
namespace {

using symbols::stringAttribute;

bool opensScope(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
      return true;
    default:
      return false;
  }
}

bool isDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

}  // namespace

ScopeName Scopes::scopeName(Dwarf_Die die) const {
  const char* name = stringAttribute(die, DW_AT_name);
  switch (dwarf_tag(&die)) {
    case DW_TAG_namespace:
    case DW_TAG_module:
      return {std::string(name != nullptr ? name : "(anonymous namespace)") + "::", false};
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
      return {(name != nullptr ? tidyTemplateName(name) + argumentsOf(die) : "(anonymous)") + "::", false};
    case DW_TAG_subprogram:
      for (int hop = 0; hop < symbols::kLongestReferenceChain; hop++) {
        const char* linkage = stringAttribute(die, DW_AT_linkage_name);
        if (linkage == nullptr) linkage = stringAttribute(die, DW_AT_MIPS_linkage_name);
        if (linkage != nullptr)
          if (std::string readable = symbols::demangle(linkage); readable != linkage) {
            if (readable.find('(') == std::string::npos) readable += "()";  // Rust
            return {readable + "::", true};
          }
        if (name == nullptr) name = stringAttribute(die, DW_AT_name);
        const auto next = symbols::completion(die);
        if (!next) break;
        die = *next;
      }
      return {std::string(name != nullptr ? name : "(anonymous)") + "()::", false};
    default:
      return {};  // a block has no name
  }
}

std::string tidyTemplateName(std::string_view name) {
  if (name.find('<') == std::string_view::npos) return std::string(name);
  std::string tidy;
  tidy.reserve(name.size());
  for (size_t i = 0; i < name.size(); i++) {
    const char c = name[i];
    if (c == ' ' && i + 1 < name.size() && name[i + 1] == '>' && !tidy.empty() && tidy.back() == '>')
      continue;
    // The suffix of an integer literal: digits that no identifier begins before.
    if (!tidy.empty() && isDigit(tidy.back()) && (c == 'u' || c == 'U' || c == 'l' || c == 'L')) {
      size_t digits = tidy.size();
      while (digits > 0 && isDigit(tidy[digits - 1])) digits--;
      const bool literal = digits > 0 && (tidy[digits - 1] == ' ' || tidy[digits - 1] == '<' ||
                                          tidy[digits - 1] == '-' || tidy[digits - 1] == ',');
      const size_t end = name.find_first_not_of("uUlL", i);
      if (literal && end != std::string_view::npos &&
          (name[end] == ',' || name[end] == '>' || name[end] == ' ')) {
        i = end - 1;
        continue;
      }
    }
    tidy += c;
  }
  return tidy;
}

Scopes::UnitScopes& Scopes::of(Dwarf_CU* cu) {
  const auto [known, isNew] = units_.try_emplace(cu);
  UnitScopes& scopes = known->second;
  Dwarf_Die root{};
  if (!isNew || dwarf_cu_die(cu, &root, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) == nullptr)
    return scopes;
  std::vector<uint32_t> open;
  symbols::DieScan(root).walk(
      opensScope,
      [&](symbols::DieScan::Here& here) {
        scopes.push_back({here.offset, 0, open.empty() ? kNone : open.back(), here.die, false, {}});
        open.push_back(static_cast<uint32_t>(scopes.size() - 1));
        return true;
      },
      [&](Dwarf_Off end) {
        scopes[open.back()].end = end;
        open.pop_back();
      });
  return scopes;
}

const std::string& Scopes::prefixOf(UnitScopes& scopes, uint32_t id) {
  // Outer scopes first, without recursion: nesting is as deep as the file says.
  std::vector<uint32_t> unnamed;
  uint32_t at = id;
  for (; at != kNone && !scopes[at].named; at = scopes[at].parent) unnamed.push_back(at);
  for (; !unnamed.empty(); unnamed.pop_back()) {
    Scope& scope = scopes[unnamed.back()];
    ScopeName own = scopeName(scope.die);
    // A class that is defined outside of its scopes has them at its declaration.
    if (const auto declaration = symbols::referenceAttribute(scope.die, DW_AT_specification);
        declaration && dwarf_tag(&scope.die) != DW_TAG_subprogram &&
        nesting_ < symbols::kLongestReferenceChain) {
      nesting_++;
      own = {prefixOf(*declaration) + own.text, true};
      nesting_--;
    }
    scope.prefix = (own.whole || scope.parent == kNone ? "" : scopes[scope.parent].prefix) + own.text;
    // Names that grow with every level are a lie; what is there says enough.
    constexpr size_t kLongestPrefix = 1 << 14;
    if (scope.prefix.size() > kLongestPrefix) scope.prefix.resize(kLongestPrefix);
    scope.named = true;
  }
  return scopes[id].prefix;
}

std::string Scopes::prefixOf(Dwarf_Die die) {
  if (die.cu == nullptr) return {};
  UnitScopes& scopes = of(die.cu);
  const Dwarf_Off offset = dwarf_dieoffset(&die);
  auto after = std::lower_bound(scopes.begin(), scopes.end(), offset,
                                [](const Scope& scope, Dwarf_Off at) { return scope.begin < at; });
  if (after == scopes.begin()) return {};
  uint32_t id = static_cast<uint32_t>(after - scopes.begin()) - 1;
  while (id != kNone && scopes[id].end <= offset) id = scopes[id].parent;
  return id == kNone ? std::string() : prefixOf(scopes, id);
}

std::string Scopes::nameOf(Dwarf_Die die) {
  const char* name = nullptr;
  for (int hop = 0; hop < symbols::kLongestReferenceChain; hop++) {
    name = stringAttribute(die, DW_AT_name);
    const auto next = symbols::referenceAttribute(die, DW_AT_specification);
    if (!next) break;
    die = *next;
  }
  if (name == nullptr) name = stringAttribute(die, DW_AT_name);
  if (name == nullptr) return {};
  return prefixOf(die) + tidyTemplateName(name) + argumentsOf(die);
}

}  // namespace cacheline::types
