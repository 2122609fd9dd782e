// The layouts of members count by what they look like and by what is in them, not by their DIEs.
#include "layouts/layout_signatures.h"

#include <algorithm>
#include <set>
#include <string>

#include "layouts/layout.h"
#include "types/raw_entry.h"
#include "types/type_reader.h"
#include "types/written_names.h"

namespace cacheline::layouts {

using types::TypeId;

LayoutSignatures::Signature LayoutSignatures::signature(TypeId type, int depth) {
  if (depth > types::kDeepestNesting) return {};
  const TypeId structure = table_.strip(type);
  // What is met while it is read lies in itself, which is a lie.
  const auto [known, isNew] = known_.try_emplace(structure);
  if (!isNew) return known->second;
  Signature found{outside(structure), 0};
  found.whole = found.outside;
  for (const TypeId inner : structuresIn(structure))
    found.whole = mix(found.whole, signature(inner, depth + 1).whole);
  return known_[structure] = found;
}

bool LayoutSignatures::lookAlike(TypeId one, TypeId other) {
  return signature(one, 0).outside == signature(other, 0).outside;
}

uint64_t LayoutSignatures::outside(TypeId structure) const {
  const Layout layout = layoutOf(table_, structure, {});
  uint64_t hash = mix(mix(mix(types::kHashStart, layout.kind), layout.size), layout.align.value_or(0));
  for (const LayoutMember& member : layout.members) {
    for (const std::string& text : {member.name, types::squeezedName(member.type), member.variant})
      hash = mix(hash, text);
    for (const uint64_t number :
         {member.offset, member.size, uint64_t{member.bitOffset}, uint64_t{member.bitSize}})
      hash = mix(hash, number);
  }
  return hash;
}

std::vector<TypeId> LayoutSignatures::structuresIn(TypeId type) const {
  std::vector<TypeId> inner;
  for (const types::Member& member : table_[table_.strip(type)].members) {
    TypeId element = table_.strip(member.type);
    while (table_.kind(element) == types::Kind::array) element = table_.strip(table_[element].target);
    if (types::isAggregate(table_.kind(element)) && !table_[element].declaration) inner.push_back(element);
  }
  return inner;
}

std::vector<std::string> LayoutSignatures::differing(TypeId one, TypeId other) {
  std::set<std::string> names;
  std::set<TypeId> seen;
  const auto compare = [&](const auto& self, TypeId a, TypeId b, int depth) -> void {
    if (depth > types::kDeepestNesting) return;
    const std::vector<TypeId> ours = structuresIn(a), others = structuresIn(b);
    for (size_t i = 0; i < std::min(ours.size(), others.size()); i++) {
      if (of(ours[i]) == of(others[i]) || !seen.insert(ours[i]).second) continue;
      if (lookAlike(ours[i], others[i]))
        self(self, ours[i], others[i], depth + 1);
      else if (const std::string name = table_.nameOf(ours[i]); !name.empty())
        names.insert(name);
    }
  };
  compare(compare, one, other, 0);
  return {names.begin(), names.end()};
}

}  // namespace cacheline::layouts
