// BinaryTypes: the index by name and place, and the table that reads what is found.
#include "layouts/binary_types.h"

#include <dwarf.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "layouts/layout.h"
#include "layouts/type_index_cache.h"
#include "layouts/unindexed.h"
#include "symbols/compilation_dirs.h"
#include "symbols/die.h"
#include "symbols/dwarf_index.h"
#include "types/field_path.h"
#include "types/type_reader.h"
#include "types/written_names.h"

namespace cacheline::layouts {

using types::kNoType;
using types::TypeId;
using types::TypeTable;

namespace {

/// What libstdc++ keeps the values of lists, maps and shared objects in: bytes, whose type is only in the
/// name.
constexpr const char* kStorages[] = {"__gnu_cxx::__aligned_membuf", "__gnu_cxx::__aligned_buffer"};
constexpr size_t kMostRead =
    20'000;  ///< structures, to find a derived class or an enclosing type: some 0.2 s

/// Of things with names those that a written one fits best.
template <typename Thing>
struct BestFits {
  explicit BestFits(std::string_view wanted) : written(wanted) {}
  void consider(const std::string& name, Thing thing) {
    const bool plain = name.find(' ') == std::string::npos;
    const types::NameFit its =
        plain ? types::fitOfName(written, name) : types::fitOfName(written, types::squeezedName(name));
    if (its == types::NameFit::none || its < fit) return;
    if (its > fit) best.clear();
    fit = its;
    best.push_back(thing);
  }

  std::string_view written;  ///< squeezed
  types::NameFit fit = types::NameFit::none;
  std::vector<Thing> best;
};

/// Whole components: `src/pool.cpp` is the end of `/home/u/src/pool.cpp`.
bool samePath(std::string_view a, std::string_view b) {
  if (a.size() < b.size()) std::swap(a, b);
  if (b.empty() || !a.ends_with(b)) return false;
  return a.size() == b.size() || b.front() == '/' || a[a.size() - b.size() - 1] == '/';
}

/// Whether a namesake in another unit may be another type: in an anonymous namespace, and in C, where no rule
/// keeps two files from it. As a rule C only declares what the unit does not look into.
bool isOfItsUnit(const Dwarf_Die& declaration, const std::string& name) {
  if (name.find("(anonymous namespace)::") != std::string::npos) return true;
  Dwarf_Die unit{};
  if (dwarf_cu_die(declaration.cu, &unit, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) == nullptr)
    return false;
  const char* text = symbols::stringAttribute(unit, DW_AT_producer);
  const std::string_view producer = text != nullptr ? text : "";
  return producer.starts_with("GNU C") && !producer.starts_with("GNU C++") &&
         producer.find("-femit-struct-debug-") != std::string_view::npos;
}

}  // namespace

struct BinaryTypes::Impl {
  explicit Impl(symbols::Module& from)
      : module(from),
        dwarf(from.dwarf() != nullptr ? from.dwarf()->handle() : nullptr),
        table(dwarf, from.dwarf(), [this](const Dwarf_Die& declaration, const std::string& name) {
          return definition(declaration, name);
        }) {}

  symbols::Module& module;
  Dwarf* dwarf;
  TypeTable table;
  std::optional<TypeIndex> known;
  LayoutSignatures signatures{table};
  symbols::CompilationDirs folders{dwarf};
  std::optional<EnclosingTypes> enclosingTypes;  ///< of all structures
  std::map<std::tuple<TypeId, int64_t, uint32_t>, Surroundings> surroundings;

  const TypeIndex& index() {
    if (!known)
      known = dwarf != nullptr
                  ? typeIndexOf(*module.dwarf(), module.image() != nullptr ? module.image()->buildId() : "")
                  : TypeIndex{};
    return *known;
  }

  std::optional<Dwarf_Die> definition(const Dwarf_Die& declaration, const std::string& name) {
    const std::vector<IndexedType>& types = index().types;
    const auto [first, last] = index().withName(name);
    if (first == last) return std::nullopt;
    if (isOfItsUnit(declaration, name)) {
      for (size_t i = first; i < last; i++)
        if (const auto die = types::dieAt(*module.dwarf(), types[i].die); die && die->cu == declaration.cu)
          return die;
      return std::nullopt;
    }
    // duplicates: which one the declaration means cannot be known.
    for (size_t i = first; i < last; i++)
      if (types[i].hash != types[first].hash || types[i].size != types[first].size) return std::nullopt;
    return types::dieAt(*module.dwarf(), types[first].die);
  }

  TypeId typeOf(const IndexedType& entry) {
    auto die = types::dieAt(*module.dwarf(), entry.die);
    if (!die) return kNoType;
    // An index from disk is foreign: what is at its places must at least be called so.
    const TypeId type = table.of(*die);
    return table[type].name == entry.name ? type : kNoType;
  }

  std::optional<TypedVariable> typed(const symbols::StaticVariable* found) {
    if (found == nullptr) return std::nullopt;
    return TypedVariable{module.dwarf()->names().of(found->die), found->address, table.typeOf(found->die)};
  }

  /// Appends the types of entries [first, last), which have one name: each layout once.
  void distinct(size_t first, size_t last, std::vector<TypeId>& types) {
    std::set<uint64_t> layouts;
    for (size_t i = first; i < last; i++) {
      const TypeId type = typeOf(index().types[i]);
      if (type == kNoType || !types::isAggregate(table[table.strip(type)].kind)) continue;
      if (last - first == 1 || layouts.insert(signatures.of(type)).second) types.push_back(type);
    }
  }
};

BinaryTypes::BinaryTypes(symbols::Module& module) : impl_(std::make_unique<Impl>(module)) {}
BinaryTypes::~BinaryTypes() = default;

TypeTable& BinaryTypes::table() {
  return impl_->table;
}

LayoutSignatures& BinaryTypes::signatures() {
  return impl_->signatures;
}

std::vector<TypeId> BinaryTypes::named(const std::string& name) {
  const std::string wanted = types::squeezedName(name);
  const std::vector<IndexedType>& all = impl_->index().types;
  std::vector<TypeId> types;
  if (const auto [first, last] = impl_->index().withName(name); first != last) {
    impl_->distinct(first, last, types);
    return types;
  }
  BestFits<size_t> found(wanted);
  for (size_t i = 0; i < all.size(); i++) found.consider(all[i].name, i);
  if (found.fit == types::NameFit::bare && all[found.best.front()].name != all[found.best.back()].name)
    return types;
  for (size_t i = 0; i < found.best.size();) {
    size_t end = i + 1;
    while (end < found.best.size() && found.best[end] == found.best[end - 1] + 1 &&
           all[found.best[end]].name == all[found.best[i]].name)
      end++;
    impl_->distinct(found.best[i], found.best[end - 1] + 1, types);
    i = end;
  }
  return types;
}

std::vector<TypeId> BinaryTypes::plainNamed(const std::string& name) {
  const std::string wanted = types::squeezedName(name);
  if (wanted.empty()) return {};
  const TypeTable& table = impl_->table;
  BestFits<TypeId> found(wanted);
  for (const IndexedUnit& unit : impl_->index().units)
    if (const auto root = types::dieAt(*impl_->module.dwarf(), unit.die))
      forEachPlainType(*root, types::lastComponent(wanted), [&](const Dwarf_Die& die) {
        const TypeId type = impl_->table.of(die);
        if (type != kNoType) found.consider(table[type].name, type);
      });
  std::set<std::string> known;
  std::set<uint64_t> layouts;
  std::erase_if(found.best, [&](TypeId type) {
    const TypeId stripped = table.strip(type);
    const bool isNew = types::isAggregate(table.kind(stripped))
                           ? layouts.insert(impl_->signatures.of(stripped)).second
                           : known.insert(table.nameOf(stripped)).second;
    return !isNew;
  });
  return std::move(found.best);
}

bool BinaryTypes::mayBePart(TypeId part, uint64_t bytes, uint64_t at) {
  const TypeTable& table = impl_->table;
  const TypeIndex& index = impl_->index();
  const std::string name = table.nameOf(table.strip(part));
  for (const char* storage : kStorages)
    if (const auto [first, last] = index.withName(storage + ('<' + name + '>')); first != last) return true;
  return std::any_of(index.types.begin(), index.types.end(), [&](const IndexedType& entry) {
    if (entry.size == 0 || bytes % entry.size != 0 || entry.name == name) return false;
    return types::contains(table, impl_->typeOf(entry), at % entry.size, part);
  });
}

const Surroundings& BinaryTypes::around(TypeId part, int64_t away, uint32_t width) {
  if (!impl_->enclosingTypes) {
    const TypeTable& table = impl_->table;
    EnclosingTypes& enclosingTypes = impl_->enclosingTypes.emplace(table);
    const TypeIndex& index = impl_->index();
    size_t read = 0;
    for (const IndexedType& entry : index.types) {
      if (entry.size < 2) continue;  // no room for a part and another member
      if (++read > kMostRead) break;
      if (const TypeId type = impl_->typeOf(entry); type != kNoType) enclosingTypes.add(table.strip(type));
    }
    if (read > kMostRead || !index.missing.empty()) enclosingTypes.leaveOpen();
  }
  const auto [known, isNew] = impl_->surroundings.try_emplace({part, away, width});
  if (isNew) known->second = impl_->enclosingTypes->around(part, away, width);
  return known->second;
}

bool BinaryTypes::isDeclared(const std::string& name) {
  const std::string wanted = types::squeezedName(name);
  const std::vector<std::string>& declared = impl_->index().declared;
  return !wanted.empty() && std::any_of(declared.begin(), declared.end(), [&](const std::string& full) {
    return types::fitOfName(wanted, types::squeezedName(full)) >= types::NameFit::tail;
  });
}

std::vector<TypeId> BinaryTypes::all() {
  const std::vector<IndexedType>& entries = impl_->index().types;
  std::vector<TypeId> types;
  for (size_t i = 0; i < entries.size();) {
    size_t end = i + 1;
    while (end < entries.size() && entries[end].name == entries[i].name) end++;
    impl_->distinct(i, end, types);
    i = end;
  }
  return types;
}

std::vector<TypeSummary> BinaryTypes::list() {
  const TypeIndex& index = impl_->index();
  std::vector<TypeSummary> list;
  for (size_t i = 0; i < index.types.size();) {
    const IndexedType& entry = index.types[i];
    size_t end = i + 1;
    while (end < index.types.size() && index.types[end].name == entry.name) end++;
    if (end == i + 1) {
      list.push_back({entry.name, entry.variants ? "enum" : types::kindName(entry.kind), entry.size,
                      index.files[entry.file], entry.line});
    } else {
      std::vector<TypeId> types;
      impl_->distinct(i, end, types);
      for (const TypeId type : types) {
        Layout layout = layoutOf(impl_->table, type, {});
        list.push_back({std::move(layout.name), std::move(layout.kind), layout.size, std::move(layout.file),
                        layout.line});
      }
    }
    i = end;
  }
  return list;
}

std::vector<Declared> BinaryTypes::declaredIn(const std::string& file) {
  const TypeIndex& index = impl_->index();
  std::vector<char> wanted(index.files.size());
  for (size_t i = 0; i < wanted.size(); i++) wanted[i] = samePath(index.files[i], file) ? 1 : 0;
  std::vector<Declared> found;
  const auto add = [&](TypeId type, std::string variable, const std::string& where, uint32_t line) {
    if (line != 0 && type != kNoType) found.push_back({type, std::move(variable), where, line});
  };
  const auto isStructure = [&](TypeId type) {
    TypeId stripped = impl_->table.strip(type);
    if (impl_->table[stripped].kind == types::Kind::array)
      stripped = impl_->table.strip(impl_->table[stripped].target);
    const TypeId pointee = impl_->table.pointee(stripped);
    const types::Type& structure = impl_->table[pointee != kNoType ? pointee : stripped];
    return types::isAggregate(structure.kind) && !structure.declaration;
  };
  std::set<std::tuple<std::string, uint32_t, uint32_t, uint64_t>> duplicates;
  for (size_t i = 0; i < index.types.size(); i++) {
    const IndexedType& entry = index.types[i];
    if (!wanted[entry.file]) continue;
    const TypeId type = impl_->typeOf(entry);
    const types::Type& structure = impl_->table[impl_->table.strip(type)];
    if (!types::isAggregate(structure.kind)) continue;
    if (const auto [first, last] = index.withName(entry.name);
        last - first > 1 &&
        !duplicates.emplace(entry.name, entry.file, entry.line, impl_->signatures.of(type)).second)
      continue;
    add(type, {}, index.files[entry.file], entry.line);
    for (const types::Member& member : structure.members)
      if (!member.name.empty() && member.file.empty() && isStructure(member.type))
        add(member.type, member.name, index.files[entry.file], member.line);
  }
  for (const IndexedVariable& entry : index.variables) {
    if (!wanted[entry.file]) continue;
    const auto die = types::dieAt(*impl_->module.dwarf(), entry.die);
    if (!die) continue;
    const TypeId type = impl_->table.typeOf(*die);
    if (isStructure(type))
      add(type, impl_->module.dwarf()->names().of(*die), index.files[entry.file], entry.line);
  }
  // A file that no unit is made from is one that many may include.
  const bool included =
      std::ranges::none_of(index.units, [&](const IndexedUnit& unit) { return wanted[unit.file] != 0; });
  std::set<std::tuple<std::string, uint32_t, std::string>> locals;
  for (const IndexedUnit& unit : index.units) {
    auto root = included || wanted[unit.file] ? types::dieAt(*impl_->module.dwarf(), unit.die) : std::nullopt;
    if (!root) continue;
    const auto isWanted = [&](const std::string& name) { return samePath(name, file); };
    for (DeclaredLocal& local : localVariables(*root, impl_->folders.of(*root), isWanted))
      if (locals.emplace(local.file, local.line, local.name).second)
        if (const TypeId type = impl_->table.typeOf(local.die); isStructure(type))
          add(type, local.name, local.file, local.line);
  }
  const auto key = [](const Declared& one) { return std::tie(one.file, one.line, one.variable, one.type); };
  std::sort(found.begin(), found.end(),
            [&](const Declared& a, const Declared& b) { return key(a) < key(b); });
  return found;
}

std::vector<symbols::MissingSplit> BinaryTypes::missing() {
  const std::vector<symbols::MissingSplit>& then = impl_->index().missing;
  // An index is kept where nothing was missing: files may be gone since.
  return then.empty() && impl_->dwarf != nullptr ? impl_->module.dwarf()->splitUnits().missing() : then;
}

std::optional<TypedVariable> BinaryTypes::variableAt(uint64_t address) {
  symbols::DwarfIndex* dwarf = impl_->module.dwarf();
  return dwarf != nullptr ? impl_->typed(dwarf->staticVariableAt(address)) : std::nullopt;
}

std::optional<TypedVariable> BinaryTypes::threadLocalAt(uint64_t offset) {
  symbols::DwarfIndex* dwarf = impl_->module.dwarf();
  return dwarf != nullptr ? impl_->typed(dwarf->threadLocalAt(offset)) : std::nullopt;
}

std::optional<TypedVariable> BinaryTypes::threadLocalNamed(const std::string& name) {
  symbols::DwarfIndex* dwarf = impl_->module.dwarf();
  return dwarf != nullptr ? impl_->typed(dwarf->threadLocalNamed(name)) : std::nullopt;
}

}  // namespace cacheline::layouts
