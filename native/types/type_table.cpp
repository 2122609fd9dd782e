// A TypeId is given when a type is first spoken of; its DIE is read in two steps when it is looked at: the
// head, of which sizes are made, then names and members. So nothing recurses through a program's types.
#include "types/type_table.h"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "symbols/compilation_dirs.h"
#include "symbols/die.h"
#include "symbols/dwarf_units.h"
#include "types/member_places.h"
#include "types/named_members.h"
#include "types/raw_entry.h"
#include "types/scopes.h"
#include "types/type_reader.h"

namespace cacheline::types {
namespace {

/// Typedefs, qualifiers, arrays of arrays: the longest chain that is followed.
constexpr int kLongestChain = 64;

bool isAlias(Kind kind) {
  switch (kind) {
    case Kind::typedefOf:
    case Kind::constOf:
    case Kind::volatileOf:
    case Kind::restrictOf:
    case Kind::atomicOf:
      return true;
    default:
      return false;
  }
}

Target targetOf(Dwarf* dwarf) {
  GElf_Ehdr header;
  if (dwarf == nullptr || gelf_getehdr(dwarf_getelf(dwarf), &header) == nullptr) return {};
  // System V ABI for the i386: longer scalars are aligned as words.
  return {header.e_ident[EI_CLASS] == ELFCLASS32 ? 4u : 8u, header.e_machine == EM_386 ? 4u : 8u};
}

uint64_t dieKey(const Dwarf_Die& die) {
  return reinterpret_cast<uintptr_t>(die.addr);
}

bool isInTypeUnit(const Dwarf_Die& die) {
  uint8_t kind = 0;
  return dwarf_cu_info(die.cu, nullptr, &kind, nullptr, nullptr, nullptr, nullptr, nullptr) == 0 &&
         (kind == DW_UT_type || kind == DW_UT_split_type);
}

bool canBeDeclared(int tag) {
  return isAggregateTag(tag) || tag == DW_TAG_enumeration_type;
}

/// Whether it only refers to a type unit, which then was not found.
bool isElsewhere(Dwarf_Die& die) {
  return canBeDeclared(dwarf_tag(&die)) && dwarf_hasattr(&die, DW_AT_signature) != 0 &&
         dwarf_hasattr(&die, DW_AT_name) == 0;
}

}  // namespace

struct TypeTable::Impl {
  struct Entry {
    enum class Read : uint8_t { nothing, head, all };
    Dwarf_Die die{};
    Read read = Read::nothing;
    Type type;
    TypeId alias = kNoType;  ///< of an anonymous one: the first typedef of another unit that was seen
  };
  Dwarf* dwarf = nullptr;
  Target target;
  FindDefinition findDefinition;
  std::deque<Entry> entries;
  HashMap<uint64_t, TypeId> byDie;  ///< by the DIE's place in memory, unique across files
  HashMap<TypeId, TypeId> firstArguments;
  std::map<std::pair<TypeId, std::string>, TypeId> aliases;
  Scopes scopes;
  std::unordered_map<Dwarf_CU*, symbols::FileTable> files;
  std::optional<symbols::CompilationDirs> folders;
  TypeSource source;
  const Type none{};
  TypeTable* owner = nullptr;
  int inheritance = 0;  ///< classes whose members are being read
  int arguments = 0;    ///< template arguments whose names are being made

  explicit Impl(const symbols::DwarfIndex* index)
      : scopes([this](const Dwarf_Die& die) { return argumentName(die); }, index) {
    source.of = [this](Dwarf_Die die) { return idOf(die); };
    source.sizeOf = [this](TypeId type) { return sizeOf(type); };
    source.isIncomplete = [this](TypeId type) { return isIncomplete(type); };
    source.fileOf = [this](Dwarf_Die& die) { return fileOf(die); };
  }

  TypeId idOf(const Dwarf_Die& asked) {
    if (asked.addr == nullptr || asked.cu == nullptr || dwarf == nullptr) return kNoType;
    const auto known = byDie.find(dieKey(asked));
    if (known != byDie.end()) return known->second;
    Dwarf_Die die = definitionOf(asked);
    TypeId id = kUnreadType;
    if (const auto same = byDie.find(dieKey(die)); same != byDie.end()) {
      id = same->second;
    } else if (kindOf(dwarf_tag(&die)) && !isElsewhere(die)) {
      id = static_cast<TypeId>(entries.size());
      entries.push_back({die, Entry::Read::nothing, {}});
      byDie[dieKey(die)] = id;
    }
    return byDie[dieKey(asked)] = id;
  }

  /// Through DW_AT_signature to the type unit, and from a declaration to the definition.
  Dwarf_Die definitionOf(Dwarf_Die die) {
    for (int hop = 0; hop < symbols::kLongestReferenceChain && canBeDeclared(dwarf_tag(&die)); hop++) {
      auto next = symbols::referenceAttribute(die, DW_AT_signature);
      if (!next && findDefinition && flagAttribute(die, DW_AT_declaration))
        if (const std::string name = scopes.nameOf(die); !name.empty()) next = findDefinition(die, name);
      if (!next || next->addr == nullptr || next->addr == die.addr) break;
      die = *next;
    }
    return die;
  }

  const Type& head(TypeId id) {
    if (id >= entries.size()) return none;
    Entry& entry = entries[id];
    if (entry.read == Entry::Read::nothing) {
      entry.read = Entry::Read::head;
      readHead(entry.die, source, entry.type);
      if (entry.type.kind == Kind::typedefOf) nameByAlias(entry.type.target, id);
    }
    return entry.type;
  }

  /// `typedef struct {...} name` in another unit, as type units have it: who asks for the structure has come
  /// by the typedef.
  void nameByAlias(TypeId aliased, TypeId alias) {
    // By tags: the head of another typedef would come back here, for each link of a chain.
    for (int hop = 0; hop < kLongestChain && aliased < entries.size(); hop++) {
      const auto kind = kindOf(dwarf_tag(&entries[aliased].die));
      if (!kind || *kind == Kind::typedefOf) return;
      if (!isAlias(*kind)) break;
      aliased = head(aliased).target;
    }
    if (aliased >= entries.size()) return;
    Entry& entry = entries[aliased];
    if (entry.alias != kNoType || entry.die.cu == entries[alias].die.cu ||
        !canBeDeclared(dwarf_tag(&entry.die)) || symbols::stringAttribute(entry.die, DW_AT_name) != nullptr)
      return;
    // A class's alias of it (`value_type`) is another name of what has one where it is defined. Type units
    // leave the scopes of such a structure out.
    if (!isInTypeUnit(entry.die) && scopes.prefixOf(entry.die) != scopes.prefixOf(entries[alias].die)) return;
    entry.alias = alias;
    if (entry.read == Entry::Read::all && entry.type.name.empty()) entry.type.name = nameOf(entry);
  }

  std::string nameOf(Entry& entry) {
    std::string name = scopes.nameOf(entry.die);
    if (!name.empty() || !canBeDeclared(dwarf_tag(&entry.die))) return name;
    if (const auto alias = scopes.aliasOf(entry.die)) return scopes.nameOf(*alias);
    return entry.alias != kNoType ? scopes.nameOf(entries[entry.alias].die) : name;
  }

  const Type& whole(TypeId id) {
    head(id);
    if (id >= entries.size()) return none;
    Entry& entry = entries[id];
    if (entry.read != Entry::Read::all) {
      entry.read = Entry::Read::all;
      entry.type.name = nameOf(entry);
      place(entry);
      if (isAggregate(entry.type.kind) && !entry.type.declaration) {
        fillMembers(entry);
        fillBuffer(id, entry.type);
        openSlice(entry.type);
      } else if (entry.type.kind == Kind::function) {
        readParameters(entry.die, source, entry.type);
      }
    }
    return entry.type;
  }

  /// Of a template's argument, which may have arguments itself: deeper than any program's they are a lie.
  std::string argumentName(const Dwarf_Die& die) {
    constexpr int kDeepestArgument = 32;
    if (arguments >= kDeepestArgument) return "...";
    arguments++;
    std::string name = owner->nameOf(idOf(die));
    arguments--;
    return name;
  }

  /// Bases are laid out before their classes. A chain of them longer than any program's is a lie: there its
  /// classes keep what DWARF says of their bases.
  void fillMembers(Entry& entry) {
    constexpr int kDeepestInheritance = 64;
    readMembers(entry.die, source, entry.type);
    if (++inheritance < kDeepestInheritance) sizeBases(*owner, entry.type);
    inheritance--;
    sortMembers(entry.type);
  }

  void fillBuffer(TypeId id, Type& type) {
    if (!isElementBuffer(type.name)) return;
    const TypeId element = firstArgument(id);
    for (Member& member : type.members)
      if (member.role == Member::Role::field && sizeOf(element) == member.size) member.type = element;
  }

  /// A Rust structure that ends in a slice (`ArcInner<[T]>`) has one element behind its size as a member:
  /// there are as many as the pointer to it says.
  void openSlice(Type& type) {
    if (type.kind != Kind::structure || type.members.empty()) return;
    Member& last = type.members.back();
    if (last.size == 0 || last.bitSize != 0 || last.offset != type.size) return;
    Type slice;
    slice.kind = Kind::array;
    slice.target = last.type;
    slice.dimensions.push_back(std::nullopt);
    last.type = static_cast<TypeId>(entries.size());
    last.size = 0;
    entries.push_back({{}, Entry::Read::all, std::move(slice)});
  }

  void place(Entry& entry) {
    const auto line = symbols::unsignedAttribute(entry.die, DW_AT_decl_line);
    if (line && *line <= UINT32_MAX) entry.type.line = static_cast<uint32_t>(*line);
    entry.type.file = fileOf(entry.die);
    entry.type.language = symbols::languageOfNumber(symbols::languageOf(entry.die));
  }

  std::string fileOf(Dwarf_Die& die) {
    const auto file = symbols::unsignedAttribute(die, DW_AT_decl_file);
    Dwarf_Die unit{};
    if (!file || dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return {};
    const auto [known, isNew] = files.try_emplace(die.cu);
    if (isNew) {
      if (!folders) folders.emplace(dwarf);
      known->second = symbols::FileTable(unit, folders->of(unit));
    }
    return known->second.name(*file);
  }

  TypeId strip(TypeId id) {
    for (int hop = 0; hop < kLongestChain; hop++) {
      const Type& type = head(id);
      if (!isAlias(type.kind)) return id < entries.size() ? id : kNoType;
      id = type.target;
    }
    return kNoType;  // aliases of each other
  }

  template <typename Is>
  Dwarf_Die firstChild(TypeId id, Is&& is) {
    Dwarf_Die first{};
    if (entries[id].die.cu == nullptr) return first;  // openSlice made it
    symbols::forEachChild(entries[id].die, [&](Dwarf_Die& child) {
      if (is(child)) first = child;
      return first.addr == nullptr;
    });
    return first;
  }

  TypeId firstArgument(TypeId id) {
    if (id >= entries.size()) return kNoType;
    const auto [known, isNew] = firstArguments.try_emplace(id, kNoType);
    if (!isNew) return known->second;
    const auto isArgument = [](Dwarf_Die& child) {
      return dwarf_tag(&child) == DW_TAG_template_type_parameter;
    };
    return known.value() = strip(owner->typeOf(firstChild(id, isArgument)));
  }

  TypeId aliasIn(TypeId id, const std::string& name) {
    if (id >= entries.size()) return kNoType;
    const auto [known, isNew] = aliases.try_emplace({id, name}, kNoType);
    if (!isNew) return known->second;
    const auto isAsked = [&](Dwarf_Die& child) {
      if (dwarf_tag(&child) != DW_TAG_typedef) return false;
      const char* its = symbols::stringAttribute(child, DW_AT_name);
      return its != nullptr && name == its;
    };
    return known->second = strip(owner->typeOf(firstChild(id, isAsked)));
  }

  std::optional<uint64_t> sizeOf(TypeId id) {
    uint64_t elements = 1, total = 0;
    for (int hop = 0; hop < kLongestChain; hop++) {
      const Type& type = head(id);
      if (type.size) {
        if (__builtin_mul_overflow(*type.size, elements, &total)) return std::nullopt;
        return total;
      }
      if (type.kind == Kind::array) {
        for (const auto& length : type.dimensions)
          if (!length || __builtin_mul_overflow(elements, *length, &elements)) return std::nullopt;
      } else if (!isAlias(type.kind) && type.kind != Kind::enumeration) {
        return std::nullopt;
      }
      id = type.target;
    }
    return std::nullopt;
  }

  bool isIncomplete(TypeId id) {
    for (int hop = 0; hop < kLongestChain; hop++) {
      if (id == kNoType || id == kUnreadType) return id == kUnreadType;
      const Type& type = head(id);
      if (type.size) return false;
      const auto isSome = [](const std::optional<uint64_t>& length) { return length.value_or(0) != 0; };
      if (!std::all_of(type.dimensions.begin(), type.dimensions.end(), isSome)) return false;
      const bool hasItsTargets = type.kind == Kind::array || isAlias(type.kind);
      if (!hasItsTargets && (type.kind != Kind::enumeration || type.target == kNoType)) return true;
      id = type.target;
    }
    return true;
  }
};

TypeTable::TypeTable(Dwarf* dwarf, const symbols::DwarfIndex* index, FindDefinition findDefinition)
    : impl_(std::make_unique<Impl>(index)) {
  impl_->dwarf = dwarf;
  impl_->target = targetOf(dwarf);
  impl_->owner = this;
  impl_->findDefinition = std::move(findDefinition);
}
TypeTable::~TypeTable() = default;

const Target& TypeTable::target() const {
  return impl_->target;
}

TypeId TypeTable::of(const Dwarf_Die& die) {
  const TypeId id = impl_->idOf(die);
  return id != kUnreadType ? id : kNoType;
}

std::string TypeTable::nameOf(const Dwarf_Die& die) {
  return nameOf(impl_->idOf(die));
}

TypeId TypeTable::typeOf(const Dwarf_Die& asked) {
  if (asked.addr == nullptr || asked.cu == nullptr) return kNoType;
  const auto type =
      symbols::alongChain(asked, [](Dwarf_Die& die) { return symbols::referenceAttribute(die, DW_AT_type); });
  return type ? of(*type) : kNoType;
}

std::optional<TypeId> TypeTable::sameAs(const TypeTable& other, TypeId type) {
  if (type >= other.impl_->entries.size()) return kNoType;
  Dwarf_Die die = other.impl_->entries[type].die, own{};
  Dwarf_Half version = 0;
  uint8_t unit = 0;
  // The type units of DWARF 4 are in a section of their own.
  if (dwarf_cu_getdwarf(die.cu) != other.impl_->dwarf ||
      dwarf_cu_info(die.cu, &version, &unit, nullptr, nullptr, nullptr, nullptr, nullptr) != 0 ||
      (version < 5 && unit == DW_UT_type) ||
      dwarf_offdie(impl_->dwarf, dwarf_dieoffset(&die), &own) == nullptr)
    return std::nullopt;
  return of(own);
}

const Type& TypeTable::operator[](TypeId type) const {
  return impl_->whole(type);
}

Kind TypeTable::kind(TypeId type) const {
  return impl_->head(type).kind;
}

TypeId TypeTable::strip(TypeId type) const {
  return impl_->strip(type);
}

TypeId TypeTable::pointee(TypeId type) const {
  const Type& pointer = impl_->head(impl_->strip(type));
  switch (pointer.kind) {
    case Kind::pointer:
    case Kind::reference:
    case Kind::rvalueReference:
      return impl_->strip(pointer.target);
    default:
      return kNoType;
  }
}

TypeId TypeTable::firstArgument(TypeId type) const {
  return impl_->firstArgument(impl_->strip(type));
}

TypeId TypeTable::aliasIn(TypeId type, const std::string& name) const {
  return impl_->aliasIn(impl_->strip(type), name);
}

std::optional<uint64_t> TypeTable::sizeOf(TypeId type) const {
  return impl_->sizeOf(type);
}

}  // namespace cacheline::types
