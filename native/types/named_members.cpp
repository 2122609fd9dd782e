// Opens anonymous members and bases, within bounds: a lying file can nest them without end.
#include "types/named_members.h"

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "types/member_places.h"
#include "types/type_reader.h"

namespace cacheline::types {
namespace {

constexpr size_t kMostMembers = 1 << 17;  ///< of one structure, everything opened
constexpr int kMostBases = 1 << 12;       ///< of one structure, theirs included

/// `Base<ns::T>` of `app::Base<ns::T>`.
std::string_view unqualified(std::string_view name) {
  int open = 0;
  for (size_t i = name.size(); i > 1; i--) {
    const char c = name[i - 1];
    if (c == '>' || c == ')') open++;
    if (c == '<' || c == '(') open--;
    if (c == ':' && name[i - 2] == ':' && open <= 0) return name.substr(i);
  }
  return name;
}

bool isBase(const Member& member) {
  return member.role == Member::Role::base || member.role == Member::Role::virtualBase;
}

class Opener {
 public:
  explicit Opener(const TypeTable& table) : table_(table) {}

  std::vector<NamedMember> open(TypeId type) {
    add(type, 0, kNoChain, {}, 0);
    std::unordered_map<std::string_view, int> count;
    for (const Found& found : found_) count[found.named.name]++;
    std::vector<NamedMember> members;
    members.reserve(found_.size());
    std::unordered_map<std::string, int> inBase;
    for (const Found& found : found_) {
      members.push_back(found.named);
      if (found.base.empty() || count[found.named.name] == 1) continue;
      members.back().name = std::string(found.base) + "::" + found.named.name;
      inBase[members.back().name]++;
    }
    // Elements of a std::tuple all come from one direct base: there only the class that has the member tells.
    for (NamedMember& member : members)
      if (const auto it = inBase.find(member.name); it != inBase.end() && it->second > 1)
        if (const std::string_view owner = unqualified(table_[member.owner].name); !owner.empty())
          member.name = std::string(owner) + "::" + member.member.name;
    nameByChains(members);
    return members;
  }

 private:
  static constexpr size_t kNoChain = SIZE_MAX;
  /// A base class, and the one it is a base of.
  struct Chain {
    std::string_view name;  ///< unqualified
    size_t outer = kNoChain;
  };
  struct Found {
    NamedMember named;
    std::string_view base;    ///< unqualified name of the base class it comes from; empty: from no base
    size_t chain = kNoChain;  ///< of that base and those between
  };

  /// What comes from several subobjects of one class has all classes on the way there in its name.
  void nameByChains(std::vector<NamedMember>& members) const {
    if (chains_.empty()) return;
    std::unordered_map<std::string_view, int> count;
    for (const NamedMember& member : members) count[member.name]++;
    std::vector<std::pair<size_t, std::string>> renamed;
    for (size_t i = 0; i < members.size(); i++) {
      if (found_[i].chain == kNoChain || count[members[i].name] == 1) continue;
      std::string name = found_[i].named.name;
      for (size_t at = found_[i].chain; at != kNoChain; at = chains_[at].outer)
        name = std::string(chains_[at].name) + "::" + name;
      renamed.emplace_back(i, std::move(name));
    }
    for (auto& [i, name] : renamed) members[i].name = std::move(name);
  }

  void add(TypeId id, uint64_t offset, size_t chain, std::string_view base, int depth) {
    const Type& type = table_[id];
    if (!isAggregate(type.kind)) return;
    for (const Member& member : type.members) {
      if (found_.size() >= kMostMembers) return;
      if (!member.located) continue;
      uint64_t at = 0;
      if (__builtin_add_overflow(offset, member.offset, &at)) continue;
      const TypeId inner = table_.strip(member.type);
      if (isBase(member)) {
        if (depth >= kDeepestNesting || chains_.size() >= kMostMembers) continue;
        const std::string_view name = unqualified(table_[inner].name);
        chains_.push_back({name, chain});
        add(inner, at, chains_.size() - 1, base.empty() ? name : base, depth + 1);
      } else if (member.name.empty() && isAggregate(table_[inner].kind)) {
        if (depth < kDeepestNesting) add(inner, at, chain, base, depth + 1);
      } else {
        std::string name = member.name.empty() ? "(unnamed)" : member.name;
        if (!member.variant.empty()) name = member.variant + "." + name;
        found_.push_back({{std::move(name), at, member, id}, base, chain});
      }
    }
  }

  const TypeTable& table_;
  std::vector<Found> found_;
  std::vector<Chain> chains_;
};

std::optional<TypeId> undefinedPart(const TypeTable& table, TypeId id, int& steps, int depth) {
  if (id == kUnreadType) return id;
  const TypeId stripped = table.strip(id);
  if (stripped == kNoType || !isAggregate(table.kind(stripped))) return std::nullopt;
  const Type& type = table[stripped];
  if (type.declaration) return stripped;
  for (const Member& member : type.members) {
    if (!isBase(member)) continue;
    if (depth > kDeepestNesting || ++steps > kMostBases) break;
    if (const auto undefined = undefinedPart(table, member.type, steps, depth + 1)) return undefined;
  }
  return std::nullopt;
}

}  // namespace

std::optional<TypeId> undefinedPart(const TypeTable& table, TypeId type) {
  int steps = 0;
  return undefinedPart(table, type, steps, 0);
}

bool isStandard(std::string_view name) {
  for (const std::string_view prefix :
       {"std::", "__gnu_cxx::", "core::", "alloc::", "sync/atomic.", "internal/runtime/atomic."})
    if (name.starts_with(prefix)) return true;
  return false;
}

bool isElementBuffer(std::string_view name) {
  return name.starts_with("__gnu_cxx::__aligned_membuf<") || name.starts_with("__gnu_cxx::__aligned_buffer<");
}

std::vector<NamedMember> namedMembers(const TypeTable& table, TypeId type) {
  return Opener(table).open(type);
}

std::optional<NamedMember> wrapped(const TypeTable& table, TypeId id) {
  const Type& type = table[id];
  if (!isAggregate(type.kind) || !isStandard(type.name)) return std::nullopt;
  std::optional<NamedMember> only;
  for (NamedMember& member : namedMembers(table, id)) {
    if (member.member.size == 0 || isEmptyClass(table, member.member.type)) continue;
    if (only) return std::nullopt;
    only = std::move(member);
  }
  return only;
}

}  // namespace cacheline::types
