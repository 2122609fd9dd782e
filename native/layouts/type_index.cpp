// One walk over each unit. libdw would need a look-up for every attribute; here the bytes of the DIEs that
// matter are read where they are.
#include "layouts/type_index.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <unordered_set>

#include "layouts/index_candidates.h"
#include "symbols/compilation_dirs.h"
#include "symbols/die.h"
#include "symbols/die_scan.h"
#include "symbols/file_table.h"
#include "types/inner_types.h"
#include "types/raw_entry.h"
#include "types/scopes.h"
#include "types/type_hashes.h"
#include "types/type_reader.h"
#include "types/type_table.h"
#include "types/unit_names.h"

namespace cacheline::layouts {
namespace {

using symbols::DieScan;
using types::DieReference;
using types::RawEntry;

constexpr uint64_t kDeclared = 1;  ///< tells declarations from definitions in what was seen

bool isWanted(int tag) {
  return types::hasNames(tag) || tag == DW_TAG_variable || tag == DW_TAG_member ||
         tag == DW_TAG_inheritance || tag == DW_TAG_variant_part || tag == DW_TAG_variant;
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
    bool inFunction = false;
    bool elsewhere = false;  ///< its name is at its declaration, or in a type unit
    bool made = false;
    std::string prefix;        ///< where `made`
    size_t aggregate = kNone;  ///< index in open_, where it is a definition
  };
  /// A definition of the unit that is read. What its members' types are called is known at the unit's end.
  struct Definition {
    RawEntry found;
    uint64_t name = 0;                   ///< the hash of its name
    uint64_t key = 0;                    ///< of what is known before: name, place, members' names and offsets
    uint64_t types = types::kHashStart;  ///< of its members' types
    size_t position = kNone;             ///< in the index, where it is the first with its key
  };
  struct MemberType {
    size_t definition;  ///< index in definitions_
    Dwarf_Die die;
    const void* structure = nullptr;  ///< TypeHashes::TypeHash::structure
  };
  /// A structure without a name, and its file.
  struct Anonymous {
    RawEntry found;
    uint32_t file = 0;
  };
  struct WaitingAlias {
    RawEntry alias;
    const void* target = nullptr;
    DieReference place;  ///< of its unit
  };
  using AnonymousTypes = std::unordered_map<const void*, Anonymous>;  ///< by the DIE's place in memory

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
      settleWaiting();
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
    inner_.clear();
    unitNames_ = types::UnitNames(nameHashes_);
    DieScan scan(root);
    scan_ = &scan;
    reader_.emplace(scan, root);
    scan.walk(isWanted, [this](DieScan::Here& here) { return enter(here); }, [this](Dwarf_Off) { leave(); });
    tellDuplicates();
    nameAnonymous();
    if (isCommon(root_)) nameHashes_.keep(root_.cu, std::move(unitNames_));
  }

  bool enter(const DieScan::Here& here) {
    switch (here.tag) {
      case DW_TAG_typedef:
        alias(here);
        return false;
      case DW_TAG_enumeration_type:
        unitNames_.add(reader_->read(here));
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
        unitNames_.open({});
        pushScope(here, false);
        return true;
      case DW_TAG_subprogram:
      case DW_TAG_lexical_block:
        return function(here);
      case DW_TAG_namespace:
      case DW_TAG_module:
        unitNames_.open(reader_->read(here).name);
        pushScope(here, false);
        return true;
      default:
        definition(here);
        return true;
    }
  }

  void leave() {
    const size_t aggregate = scopes_.back().aggregate;
    scopes_.pop_back();
    unitNames_.close();
    if (aggregate == kNone) return;
    const size_t definition = open_.back();
    open_.pop_back();
    close(definitions_[definition]);
  }

  void pushScope(const DieScan::Here& here, bool function) {
    Scope scope;
    scope.die = here.die;
    scope.inFunction = function || (!scopes_.empty() && scopes_.back().inFunction);
    scopes_.push_back(std::move(scope));
  }

  /// Types can be in a function that has a body.
  bool function(const DieScan::Here& here) {
    const auto name = reader_->scopeName(here);
    if (!name) return false;
    unitNames_.open(*name);
    pushScope(here, true);
    return true;
  }

  void definition(const DieScan::Here& here) {
    RawEntry found = reader_->read(here);
    if (!found.name.empty())
      if (const std::string arguments = names_.argumentsOf(found.die); !arguments.empty())
        found.name = rebuilt_.emplace_back(std::string(found.name) + arguments);
    const bool stub = found.declared && found.target != nullptr;  // of what a type unit defines
    const uint64_t name = unitNames_.open(found);
    if (found.declared && !stub && !found.name.empty() && seen_.insert(mix(name, kDeclared)).second)
      index_.declared.push_back(prefix() + types::tidyTemplateName(found.name));
    pushScope(here, false);
    scopes_.back().elsewhere = found.specified || stub;
    if (stub && found.name.empty()) stubs_.emplace(found.die.addr, found.target);
    if (found.declared) return;
    found.hash = mix(found.hash, found.line);
    scopes_.back().aggregate = open_.size();
    open_.push_back(definitions_.size());
    definitions_.push_back({.found = found, .name = name});
  }

  void hashMember(const DieScan::Here& here) {
    uint64_t& hash = definitions_[open_.back()].found.hash;
    const auto hashed = reader_->hashMember(here, hash);
    if (!hashed) return;
    hash = *hashed;
    if (const auto type = reader_->typeOf(here)) memberTypes_.push_back({open_.back(), *type});
  }

  /// What is defined in another file may be something else although it looks alike from here.
  uint64_t keyOf(uint64_t name, const RawEntry& found) {
    return mix(mix(name, found.hash), fileOf(found.file));
  }

  /// All members of a definition are read; the scopes on the stack are those around it.
  void close(Definition& definition) {
    const RawEntry& found = definition.found;
    if (found.name.empty() && (!found.specified || names_.nameOf(found.die).empty())) return;
    definition.key = keyOf(definition.name, found);
    if (!seen_.insert(definition.key).second) return;
    definition.position = index_.types.size();
    // The former are those of type units, and of a nested class that is defined outside of its class.
    IndexedType& entry =
        index_.types.emplace_back(entryOf(found, fileOf(found.file), referenceTo(found.offset)));
    entry.name = found.specified ? names_.nameOf(found.die) : prefix() + types::tidyTemplateName(found.name);
  }

  /// Definitions that look alike may differ in what their members' types are called, and in what those hold.
  void tellDuplicates() {
    types::TypeHashes hashes(root_.cu, [this](const Dwarf_Die& die) { return nameHash(die); });
    for (MemberType& member : memberTypes_) {
      const auto [hash, structure] = hashes.of(member.die);
      uint64_t& types = definitions_[member.definition].types;
      types = mix(types, hash);
      member.structure = structure;
    }
    types::InnerTypes& inner = isCommon(root_) ? sharedInner_ : inner_;
    size_t added = 0;
    for (Definition& definition : definitions_) {
      definition.found.hash = mix(definition.found.hash, definition.types);
      added = inner.add(definition.found.die.addr, definition.found.hash) + 1;
    }
    const size_t first = added - definitions_.size();
    for (const MemberType& member : memberTypes_)
      if (member.structure != nullptr) inner.link(first + member.definition, member.structure);
    for (size_t i = 0; i < definitions_.size(); i++) {
      const Definition& definition = definitions_[i];
      const RawEntry& found = definition.found;
      const uint64_t looks = mix(definition.key, definition.types);
      const auto make = [&] {
        return IndexCandidate{entryOf(found, fileOf(found.file), referenceTo(found.offset)), found.die,
                              found.die.addr, looks, definition.position};
      };
      if (definition.key == 0)
        anonymous_.emplace(found.die.addr, Anonymous{found, fileOf(found.file)});
      else
        consider(looks, [&]() -> const types::InnerHashes& { return inner_.of(i); }, make);
    }
  }

  /// What is inside of a common unit's types may be in one that is not read yet.
  template <typename Inside, typename Make>
  void consider(uint64_t looks, Inside inside, Make make) {
    if (isCommon(root_)) {
      waiting_.push_back(make());
    } else if (const types::InnerHashes& inner = inside(); candidates_.isNew(looks, inner)) {
      IndexCandidate candidate = make();
      candidates_.settle(candidate, inner);
    }
  }
  void settleWaiting() {
    for (const WaitingAlias& alias : waitingAliases_) nameAnonymous(alias);
    waitingAliases_.clear();
    for (IndexCandidate& candidate : waiting_) {
      const types::InnerHashes& inner = sharedInner_.of(candidate.structure);
      if (candidates_.isNew(candidate.looks, inner)) candidates_.settle(candidate, inner);
    }
    waiting_.clear();
  }

  uint64_t nameHash(const Dwarf_Die& die) {
    return die.cu == root_.cu ? unitNames_.of(die.addr) : nameHashes_.of(die);
  }

  void alias(const DieScan::Here& here) {
    RawEntry found = reader_->read(here);
    found.nested = !scopes_.empty();
    unitNames_.add(found);
    if (!found.name.empty() && found.target != nullptr) aliases_.push_back(found);
  }

  /// `typedef struct {...} name`: the typedef's name stands for the structure.
  void nameAnonymous() {
    if (isCommon(root_)) {
      shared_.merge(anonymous_);
      anonymous_.clear();
    }
    for (const RawEntry& alias : aliases_) {
      const auto stub = stubs_.find(alias.target);
      const WaitingAlias own{alias, stub != stubs_.end() ? stub->second : alias.target, place_};
      // What it is of may be in a unit that others import, too, and not read yet.
      if (!nameAnonymous(own) && isCommon(root_) && !isOfUnit(own.target)) waitingAliases_.push_back(own);
    }
  }
  bool isOfUnit(const void* place) const {
    const auto* begin = static_cast<const uint8_t*>(root_.addr);
    return place >= begin && place < begin + scan_->bytes();
  }

  bool nameAnonymous(const WaitingAlias& waiting) {
    const Anonymous* target = anonymousAt(waiting.target);
    if (target == nullptr) return false;
    const RawEntry& alias = waiting.alias;
    std::string name = alias.nested ? names_.nameOf(alias.die) : types::tidyTemplateName(alias.name);
    const uint64_t looks = mix(mix(mix(types::kHashStart, name), target->found.hash), target->file);
    consider(
        looks, [&]() -> const types::InnerHashes& { return inner_.of(waiting.target); },
        [&] {
          IndexCandidate candidate{entryOf(target->found, target->file,
                                           {waiting.place.section, waiting.place.skeleton, alias.offset}),
                                   alias.die, waiting.target, looks};
          candidate.entry.name = std::move(name);
          return candidate;
        });
    return true;
  }

  const Anonymous* anonymousAt(const void* place) const {
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
    if (!seen_.insert(mix(mix(mix(types::kHashStart, file), found.line), found.name)).second) return;
    index_.variables.push_back({file, static_cast<uint32_t>(found.line), referenceTo(found.offset)});
  }

  /// Without its name.
  IndexedType entryOf(const RawEntry& found, uint32_t file, const DieReference& die) const {
    const auto line = static_cast<uint32_t>(std::min<uint64_t>(found.line, UINT32_MAX));
    return {{}, file, line, found.kind, found.variants, found.size, found.hash, die};
  }

  DieReference referenceTo(Dwarf_Off offset) const { return {place_.section, place_.skeleton, offset}; }

  /// What the scopes on the stack put in front of a name.
  std::string prefix() {
    std::string whole;
    for (Scope& scope : scopes_) {
      if (!scope.made) {
        types::ScopeName own = names_.scopeName(scope.die);
        if (const std::string name = scope.elsewhere ? names_.nameOf(scope.die) : ""; !name.empty())
          own = {name + "::", true};
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
  types::TypeTable argumentTypes_{dwarf_};
  types::Scopes names_{[this](const Dwarf_Die& die) { return argumentTypes_.nameOf(die); }};
  std::unordered_map<std::string, uint32_t> fileIds_;
  std::unordered_set<uint64_t> seen_;
  std::unordered_set<Dwarf*> splitFiles_;
  symbols::CompilationDirs folders_{dwarf_};
  types::NameHashes nameHashes_{names_};
  AnonymousTypes shared_;                   ///< as anonymous_: of units that others import
  types::InnerTypes sharedInner_{nullptr};  ///< of units that others import
  IndexCandidates candidates_{index_.types, [this](const Dwarf_Die& die) { return names_.nameOf(die); }};
  std::vector<WaitingAlias> waitingAliases_;
  std::vector<IndexCandidate> waiting_;
  // Of the unit that is read:
  Dwarf_Die root_{};
  DieReference place_;
  std::string unitFolder_;
  std::optional<symbols::FileTable> fileTable_;
  std::vector<uint32_t> unitFiles_;  ///< by the unit's file number; UINT32_MAX: not asked for yet
  DieScan* scan_ = nullptr;
  std::optional<types::RawReader> reader_;
  std::vector<Scope> scopes_;
  std::vector<size_t> open_;  ///< the definitions around what is read: indexes in definitions_
  std::vector<Definition> definitions_;
  std::vector<MemberType> memberTypes_;
  types::InnerTypes inner_{&sharedInner_};
  types::UnitNames unitNames_{nameHashes_};
  std::deque<std::string> rebuilt_;  ///< names with the arguments that the compiler left out
  std::vector<RawEntry> aliases_;
  std::unordered_map<const void*, const void*> stubs_;  ///< of structures without names in type units
  AnonymousTypes anonymous_;
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

}  // namespace cacheline::layouts
