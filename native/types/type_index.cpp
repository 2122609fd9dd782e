// One walk over each unit. libdw would need a look-up for every attribute; here the bytes of the DIEs that
// matter are read where they are.
#include "types/type_index.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "symbols/compilation_dirs.h"
#include "symbols/die.h"
#include "symbols/die_scan.h"
#include "symbols/file_table.h"
#include "types/raw_entry.h"
#include "types/scopes.h"
#include "types/type_hashes.h"
#include "types/type_reader.h"
#include "types/type_table.h"
#include "types/unit_names.h"

namespace cacheline::types {
namespace {

using symbols::DieScan;

constexpr uint64_t kDeclared = 1;  ///< tells declarations from definitions in what was seen

bool isWanted(int tag) {
  switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_subprogram:
    case DW_TAG_lexical_block:
    case DW_TAG_typedef:
    case DW_TAG_enumeration_type:
    case DW_TAG_variable:
    case DW_TAG_member:
    case DW_TAG_inheritance:
    case DW_TAG_variant_part:
    case DW_TAG_variant:
      return true;
    default:
      return isAggregateTag(tag);
  }
}

class Builder {
 public:
  explicit Builder(symbols::DwarfIndex& file) : dwarf_(file.handle()), splits_(file.splitUnits()) {
    fileId("");
  }

  TypeIndex build() {
    using Section = DieReference::Section;
    // First what the others refer to.
    if (Dwarf* supplement = dwarf_getalt(dwarf_))
      units(supplement, Section::supplement, Section::supplement, 0);
    else
      noteMissingSupplement();
    units(dwarf_, Section::info, Section::types, 0);
    index_.missing.insert(index_.missing.end(), splits_.missing().begin(), splits_.missing().end());
    std::stable_sort(index_.types.begin(), index_.types.end(),
                     [](const IndexedType& a, const IndexedType& b) { return a.name < b.name; });
    std::sort(index_.declared.begin(), index_.declared.end());
    const auto isDefined = [this](const std::string& name) {
      const auto [first, last] = index_.withName(name);
      return first != last;
    };
    std::erase_if(index_.declared, isDefined);
    return std::move(index_);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  struct Scope {
    Dwarf_Die die{};
    uint64_t nameHash = 0;  ///< of the names from the unit to here
    bool inFunction = false, specified = false, made = false;
    std::string prefix;        ///< where `made`
    size_t aggregate = kNone;  ///< index in open_, where it is a definition
  };
  /// A definition of the unit that is read. What its members' types are called is known at the unit's end.
  struct Definition {
    RawEntry found;
    uint64_t key = 0;             ///< of what is known before: name, place, members' names and offsets
    uint64_t types = kHashStart;  ///< of its members' types
    size_t position = kNone;      ///< in the index, where it is the first with its key
  };
  struct MemberType {
    size_t definition;  ///< index in definitions_
    Dwarf_Die die;
  };
  using NamedDie = std::pair<const void*, uint64_t>;

  /// First those that others refer to.
  void units(Dwarf* file, DieReference::Section info, DieReference::Section types, uint64_t skeleton) {
    for (const bool common : {true, false}) {
      Dwarf_CU* cu = nullptr;
      Dwarf_Half version = 0;
      uint8_t kind = 0;
      Dwarf_Die root{};
      while (dwarf_get_units(file, cu, &cu, &version, &kind, &root, nullptr) == 0) {
        const bool ofTypes = kind == DW_UT_type || kind == DW_UT_split_type;
        if (root.addr == nullptr || isCommon(root) != common) continue;  // a kind that libdw does not know
        if (kind == DW_UT_skeleton && info == DieReference::Section::info)
          openSplit(root);
        else
          unit(root, {ofTypes && version < 5 ? types : info, skeleton, dwarf_dieoffset(&root)}, !ofTypes);
      }
    }
  }

  static bool isCommon(Dwarf_Die& root) {
    return dwarf_tag(&root) == DW_TAG_partial_unit || dwarf_tag(&root) == DW_TAG_type_unit;
  }

  void noteMissingSupplement() {
    const char* name = nullptr;
    const void* id = nullptr;
    if (dwelf_dwarf_gnu_debugaltlink(dwarf_, &name, &id) > 0) index_.missing.push_back({name});
  }

  void openSplit(Dwarf_Die& skeleton) {
    const auto split = splits_.of(skeleton);
    if (!split) return;
    Dwarf* file = dwarf_cu_getdwarf(split->cu);
    if (!splitFiles_.insert(file).second) return;
    units(file, DieReference::Section::splitInfo, DieReference::Section::splitTypes,
          dwarf_dieoffset(&skeleton));
  }

  void unit(Dwarf_Die root, const DieReference& place, bool hasFunctions) {
    root_ = root;
    place_ = place;
    unitFolder_ = folders_.of(root);
    unitFiles_.clear();
    fileTable_.reset();
    if (hasFunctions) {  // those that dwz put into units without names, too
      const char* name = symbols::stringAttribute(root, DW_AT_name);
      index_.units.push_back({fileId(name != nullptr ? symbols::sourcePath(unitFolder_, name) : ""), place});
    }
    aliases_.clear();
    stubs_.clear();
    anonymous_.clear();
    scopes_.clear();
    open_.clear();
    rebuilt_.clear();
    definitions_.clear();
    memberTypes_.clear();
    namedDies_.clear();
    DieScan scan(root);
    scan_ = &scan;
    reader_.emplace(scan, root);
    scan.walk(isWanted, [this](DieScan::Here& here) { return enter(here); }, [this](Dwarf_Off) { leave(); });
    tellTwins();
    nameAnonymous();
  }

  bool enter(const DieScan::Here& here) {
    switch (here.tag) {
      case DW_TAG_typedef:
        alias(here);
        return false;
      case DW_TAG_enumeration_type:
        nameDie(here, reader_->read(here).name);
        return false;
      case DW_TAG_variable:
        if (scopes_.empty() || !scopes_.back().inFunction) variable(here);
        return false;
      case DW_TAG_member:
      case DW_TAG_inheritance:
        if (!open_.empty()) hashMember(here);
        return false;
      case DW_TAG_variant_part:
      case DW_TAG_variant:
        if (open_.empty()) return false;
        hashMember(here);
        definitions_[open_.back()].found.variants = true;
        pushScope(here, {}, false);
        return true;
      case DW_TAG_subprogram:
      case DW_TAG_lexical_block:
        return function(here);
      case DW_TAG_namespace:
      case DW_TAG_module:
        pushScope(here, reader_->read(here).name, false);
        return true;
      default:
        definition(here);
        return true;
    }
  }

  void leave() {
    const size_t aggregate = scopes_.back().aggregate;
    scopes_.pop_back();
    if (aggregate == kNone) return;
    const size_t definition = open_.back();
    open_.pop_back();
    close(definitions_[definition]);
  }

  void pushScope(const DieScan::Here& here, std::string_view name, bool function) {
    Scope scope;
    scope.die = here.die;
    scope.nameHash = mix(scopes_.empty() ? kHashStart : scopes_.back().nameHash, name);
    scope.inFunction = function || (!scopes_.empty() && scopes_.back().inFunction);
    scopes_.push_back(std::move(scope));
  }

  /// Types can be in a function that has a body.
  bool function(const DieScan::Here& here) {
    const auto name = reader_->scopeName(here);
    if (name) pushScope(here, *name, true);
    return name.has_value();
  }

  void definition(const DieScan::Here& here) {
    RawEntry found = reader_->read(here);
    if (!found.name.empty())
      if (const std::string arguments = names_.argumentsOf(found.die); !arguments.empty())
        found.name = rebuilt_.emplace_back(std::string(found.name) + arguments);
    if (!found.specified) nameDie(here, found.name);
    pushScope(here, found.name, false);
    scopes_.back().specified = found.specified;
    if (found.declared) {
      if (found.name.empty() && found.target != nullptr) stubs_.emplace(found.die.addr, found.target);
      if (!found.name.empty() && seen_.insert(mix(scopes_.back().nameHash, kDeclared)).second) {
        scopes_.pop_back();
        index_.declared.push_back(prefix() + tidyTemplateName(found.name));
        pushScope(here, found.name, false);
      }
      return;
    }
    found.hash = mix(found.hash, found.line);
    scopes_.back().aggregate = open_.size();
    open_.push_back(definitions_.size());
    definitions_.push_back({.found = found});
  }

  void hashMember(const DieScan::Here& here) {
    uint64_t& hash = definitions_[open_.back()].found.hash;
    hash = reader_->hashMember(here, hash);
    if (const auto type = reader_->typeOf(here)) memberTypes_.push_back({open_.back(), *type});
  }

  void nameDie(const DieScan::Here& here, std::string_view name) {
    if (!name.empty()) namedDies_.emplace_back(here.die.addr, mix(outerHash(), name));
  }

  /// Of the names from the unit to here.
  uint64_t outerHash() const { return scopes_.empty() ? kHashStart : scopes_.back().nameHash; }

  /// What is defined in another file may be something else although it looks alike from here.
  uint64_t keyOf(uint64_t name, const RawEntry& found) {
    return mix(mix(name, found.hash), fileOf(found.file));
  }

  /// All members of a definition are read; the scopes on the stack are those around it.
  void close(Definition& definition) {
    const RawEntry& found = definition.found;
    if (!found.specified && found.name.empty()) return;
    // The former are those of type units, and of a nested class that is defined outside of its class.
    const std::string whole = found.specified ? names_.nameOf(found.die) : std::string();
    if (found.specified && whole.empty()) return;
    definition.key = keyOf(found.specified ? mix(kHashStart, whole) : mix(outerHash(), found.name), found);
    if (!seen_.insert(definition.key).second) return;
    definition.position = index_.types.size();
    append(found.specified ? whole : prefix() + tidyTemplateName(found.name), found);
  }

  /// Definitions that look alike may differ in what their members' types are called.
  void tellTwins() {
    TypeHashes hashes(root_.cu, [this](const Dwarf_Die& die) { return nameHash(die); });
    for (const auto& [definition, type] : memberTypes_)
      definitions_[definition].types = mix(definitions_[definition].types, hashes.of(type));
    for (auto& [found, key, types, position] : definitions_) {
      found.hash = mix(found.hash, types);
      if (key == 0) {
        anonymous_.emplace(found.die.addr, found);
      } else if (const bool isNew = seen_.insert(mix(key, types)).second; position != kNone) {
        index_.types[position].hash = found.hash;
      } else if (isNew) {
        append(names_.nameOf(found.die), found);
      }
    }
  }

  uint64_t nameHash(const Dwarf_Die& die) {
    const auto at = std::lower_bound(namedDies_.begin(), namedDies_.end(), NamedDie{die.addr, 0});
    if (at != namedDies_.end() && at->first == die.addr) return at->second;
    const auto shared = sharedNames_.find(die.addr);
    if (shared != sharedNames_.end()) return shared->second;
    return die.cu != root_.cu ? otherNames_.of(die) : 0;
  }

  void alias(const DieScan::Here& here) {
    RawEntry found = reader_->read(here);
    found.nested = !scopes_.empty();
    nameDie(here, found.name);
    if (!found.name.empty() && found.target != nullptr) aliases_.push_back(found);
  }

  /// `typedef struct {...} name`: the typedef's name stands for the structure.
  void nameAnonymous() {
    if (isCommon(root_)) {
      shared_.merge(anonymous_);
      anonymous_.clear();
      sharedNames_.insert(namedDies_.begin(), namedDies_.end());
    }
    if (anonymous_.empty() && shared_.empty()) return;
    for (const RawEntry& alias : aliases_) {
      const RawEntry* target = anonymousAt(alias.target);
      if (target == nullptr) continue;
      RawEntry named = *target;
      named.die = alias.die;
      named.offset = alias.offset;
      std::string name = alias.nested ? names_.nameOf(alias.die) : tidyTemplateName(alias.name);
      if (seen_.insert(keyOf(mix(kHashStart, name), named)).second) append(std::move(name), named);
    }
  }

  const RawEntry* anonymousAt(const void* place) const {
    if (const auto stub = stubs_.find(place); stub != stubs_.end()) place = stub->second;
    for (const auto* list : {&anonymous_, &shared_})
      if (const auto at = list->find(place); at != list->end()) return &at->second;
    return nullptr;
  }

  void variable(const DieScan::Here& here) {
    bool located = false;
    scan_->forEachAttribute(here, [&](const DieScan::Raw& raw) { located |= raw.name == DW_AT_location; });
    if (!located) return;
    const RawEntry found = reader_->read(here);
    if (found.line == 0 || found.line > UINT32_MAX) return;
    const uint32_t file = fileOf(found.file);
    if (!seen_.insert(mix(mix(mix(kHashStart, file), found.line), found.name)).second) return;
    index_.variables.push_back({file, static_cast<uint32_t>(found.line), referenceTo(found.offset)});
  }

  void append(std::string name, const RawEntry& found) {
    const auto line = static_cast<uint32_t>(std::min<uint64_t>(found.line, UINT32_MAX));
    index_.types.push_back({std::move(name), fileOf(found.file), line, found.kind, found.variants, found.size,
                            found.hash, referenceTo(found.offset)});
  }

  DieReference referenceTo(Dwarf_Off offset) const { return {place_.section, place_.skeleton, offset}; }

  /// What the scopes on the stack put in front of a name.
  std::string prefix() {
    std::string whole;
    for (Scope& scope : scopes_) {
      if (!scope.made) {
        ScopeName own =
            scope.specified ? ScopeName{names_.nameOf(scope.die) + "::", true} : names_.scopeName(scope.die);
        scope.prefix = own.whole ? own.text : whole + own.text;
        constexpr size_t kLongestPrefix = 1 << 14;
        if (scope.prefix.size() > kLongestPrefix) scope.prefix.resize(kLongestPrefix);
        scope.made = true;
      }
      whole = scope.prefix;
    }
    return whole;
  }

  uint32_t fileOf(uint64_t number) {
    if (number == 0 && dwarf_tag(&root_) == DW_TAG_partial_unit) return 0;
    if (!fileTable_) fileTable_.emplace(root_, unitFolder_);
    constexpr uint64_t kMostFiles = 1 << 20;
    if (number >= kMostFiles) return 0;
    if (number >= unitFiles_.size()) unitFiles_.resize(number + 1, UINT32_MAX);
    uint32_t& id = unitFiles_[number];
    if (id == UINT32_MAX) id = fileId(fileTable_->name(number));
    return id;
  }

  uint32_t fileId(const std::string& name) {
    const auto [known, isNew] = fileIds_.try_emplace(name, static_cast<uint32_t>(index_.files.size()));
    if (isNew) index_.files.push_back(name);
    return known->second;
  }

  Dwarf* dwarf_;
  symbols::SplitUnits& splits_;
  TypeIndex index_;
  TypeTable argumentTypes_{dwarf_};
  Scopes names_{[this](const Dwarf_Die& die) { return argumentTypes_.nameOf(argumentTypes_.of(die)); }};
  std::unordered_map<std::string, uint32_t> fileIds_;
  std::unordered_set<uint64_t> seen_;
  std::unordered_set<Dwarf*> splitFiles_;
  symbols::CompilationDirs folders_{dwarf_};
  std::unordered_map<const void*, RawEntry> shared_;       ///< as anonymous_: of units that others import
  std::unordered_map<const void*, uint64_t> sharedNames_;  ///< as namedDies_, of the same
  UnitNames otherNames_{names_};
  // Of the unit that is read:
  Dwarf_Die root_{};
  DieReference place_;
  std::string unitFolder_;
  std::optional<symbols::FileTable> fileTable_;
  std::vector<uint32_t> unitFiles_;  ///< by the unit's file number; UINT32_MAX: not asked for yet
  DieScan* scan_ = nullptr;
  std::optional<RawReader> reader_;
  std::vector<Scope> scopes_;
  std::vector<size_t> open_;  ///< the definitions around what is read: indexes in definitions_
  std::vector<Definition> definitions_;
  std::vector<MemberType> memberTypes_;
  std::vector<NamedDie> namedDies_;  ///< ascending: classes, enumerations and aliases; hashes of their names
  std::deque<std::string> rebuilt_;  ///< names with the arguments that the compiler left out
  std::vector<RawEntry> aliases_;
  std::unordered_map<const void*, const void*> stubs_;   ///< of structures without names in type units
  std::unordered_map<const void*, RawEntry> anonymous_;  ///< by the DIE's place in memory
};

}  // namespace

TypeIndex buildTypeIndex(symbols::DwarfIndex& file) {
  return Builder(file).build();
}

std::pair<size_t, size_t> TypeIndex::withName(std::string_view name) const {
  struct ByName {
    bool operator()(const IndexedType& type, std::string_view text) const { return type.name < text; }
    bool operator()(std::string_view text, const IndexedType& type) const { return text < type.name; }
  };
  const auto [first, last] = std::equal_range(types.begin(), types.end(), name, ByName{});
  return {static_cast<size_t>(first - types.begin()), static_cast<size_t>(last - types.begin())};
}

}  // namespace cacheline::types
