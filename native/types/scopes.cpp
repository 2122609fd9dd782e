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

Scopes::UnitScopes& Scopes::of(const Dwarf_Die& die) {
  const auto [known, isNew] = units_.try_emplace(die.cu);
  UnitScopes& scopes = known->second;
  if (!isNew) return scopes;
  if (dwarf_ != nullptr) scopes.tree = dwarf_->knownScopes(die);
  if (scopes.tree != nullptr) return scopes;
  scopes.own.emplace();
  scopes.tree = &*scopes.own;
  Dwarf_Die root{};
  if (dwarf_cu_die(die.cu, &root, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) != nullptr) {
    symbols::DieScan scan(root);
    scopes.own.emplace(scan);
  }
  return scopes;
}

const std::string& Scopes::prefixOf(UnitScopes& scopes, uint32_t id, Dwarf_Die inside) {
  // Outer scopes first, without recursion: nesting is as deep as the file says.
  std::vector<uint32_t> unnamed;
  const auto offset = static_cast<int64_t>(dwarf_dieoffset(&inside));
  const symbols::ScopeTree& tree = *scopes.tree;
  for (uint32_t at = id; at != symbols::ScopeTree::kNone && !scopes.prefixes.contains(at);
       at = tree[at].parent)
    unnamed.push_back(at);
  for (; !unnamed.empty(); unnamed.pop_back()) {
    const symbols::ScopeTree::Scope& scope = tree[unnamed.back()];
    Dwarf_Die die{};
    die.cu = inside.cu;
    die.addr = static_cast<char*>(inside.addr) + (static_cast<int64_t>(scope.begin) - offset);
    ScopeName own = scopeName(die);
    if (dwarf_tag(&die) != DW_TAG_subprogram && nesting_ < symbols::kLongestReferenceChain) {
      nesting_++;
      // A class that is defined outside of its scopes has them at its declaration; what a type unit defines
      // has a name only there.
      if (const auto declaration = symbols::referenceAttribute(die, DW_AT_specification))
        own = {prefixOf(*declaration) + own.text, true};
      else if (const auto defined = symbols::referenceAttribute(die, DW_AT_signature))
        if (const std::string name = nameOf(*defined); !name.empty()) own = {name + "::", true};
      nesting_--;
    }
    std::string prefix = own.whole || scope.parent == symbols::ScopeTree::kNone
                             ? std::string()
                             : scopes.prefixes[scope.parent];
    prefix += own.text;
    // Names that grow with every level are a lie; what is there says enough.
    constexpr size_t kLongestPrefix = 1 << 14;
    if (prefix.size() > kLongestPrefix) prefix.resize(kLongestPrefix);
    scopes.prefixes[unnamed.back()] = std::move(prefix);
  }
  return scopes.prefixes[id];
}

std::string Scopes::prefixOf(Dwarf_Die die) {
  if (die.cu == nullptr) return {};
  UnitScopes& scopes = of(die);
  const uint32_t id = scopes.tree->around(dwarf_dieoffset(&die));
  return id == symbols::ScopeTree::kNone ? std::string() : prefixOf(scopes, id, die);
}

std::optional<Dwarf_Die> Scopes::aliasOf(const Dwarf_Die& die) {
  Dwarf_Die scope = die;
  if (die.cu == nullptr || dwarf_diecu(&scope, &scope, nullptr, nullptr) == nullptr) return std::nullopt;
  UnitScopes& scopes = of(die);
  const uint32_t id = scopes.tree->around(dwarf_dieoffset(const_cast<Dwarf_Die*>(&die)));
  const auto [known, isNew] = scopes.aliases.try_emplace(id);
  if (isNew) {
    if (id != symbols::ScopeTree::kNone)
      scope.addr = static_cast<char*>(scope.addr) + ((*scopes.tree)[id].begin - dwarf_dieoffset(&scope));
    typedefs_.walk(
        scope, [](int tag) { return tag == DW_TAG_typedef; },
        [&aliases = known->second](Dwarf_Die& alias) {
          auto target = symbols::referenceAttribute(alias, DW_AT_type);
          if (target) target = symbols::unqualified(*target, false);
          if (target) aliases.try_emplace(target->addr, alias);
          return false;
        });
  }
  const auto alias = known->second.find(die.addr);
  return alias != known->second.end() ? std::optional(alias->second) : std::nullopt;
}

std::string Scopes::nameOf(Dwarf_Die die) {
  const char* name = nullptr;
  for (int hop = 0; hop < symbols::kLongestReferenceChain; hop++) {
    name = stringAttribute(die, DW_AT_name);
    auto next = symbols::referenceAttribute(die, DW_AT_specification);
    if (!next) next = symbols::referenceAttribute(die, DW_AT_signature);
    if (!next) break;
    die = *next;
  }
  if (name == nullptr) name = stringAttribute(die, DW_AT_name);
  if (name == nullptr) return {};
  return prefixOf(die) + tidyTemplateName(name) + argumentsOf(die);
}

}  // namespace cacheline::types
