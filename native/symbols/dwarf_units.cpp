// Only the unit headers and their ranges are read up front; everything else of a unit waits for its first
// hit.
#include "symbols/dwarf_units.h"

#include <map>

#include "symbols/die.h"

namespace cacheline::symbols {
namespace {

struct UnitDies {
  Dwarf_Die die{}, root{};
};

/// The unit's own DIE, and that of its .dwo file where it is a skeleton and libdw finds the file.
std::optional<UnitDies> unitDies(Dwarf_CU* cu, SplitUnits& splits) {
  Dwarf_Half version = 0;
  uint8_t type = 0;
  UnitDies dies;
  if (dwarf_cu_info(cu, &version, &type, &dies.die, nullptr, nullptr, nullptr, nullptr) != 0)
    return std::nullopt;
  dies.root = dies.die;
  if (type == DW_UT_skeleton) dies.root = splits.of(dies.die).value_or(dies.die);
  return dies;
}

/// The larger an interval, the lower its priority.
uint64_t tightest(uint64_t low, uint64_t high) {
  return UINT64_MAX - (high - low);
}

/// Whether the unit's abbreviations have any kind of type.
bool describesTypes(Dwarf_Die& root) {
  size_t length = 0;
  for (Dwarf_Off offset = 0; Dwarf_Abbrev* abbreviation = dwarf_getabbrev(&root, offset, &length);
       offset += length) {
    if (abbreviation == DWARF_END_ABBREV) return false;
    switch (dwarf_getabbrevtag(abbreviation)) {
      case DW_TAG_base_type:
      case DW_TAG_pointer_type:
      case DW_TAG_structure_type:
      case DW_TAG_class_type:
      case DW_TAG_union_type:
      case DW_TAG_enumeration_type:
      case DW_TAG_array_type:
      case DW_TAG_typedef:
        return true;
      default:
        break;
    }
  }
  return false;
}

}  // namespace

Unit::Unit(Dwarf_Die die, Dwarf_Die root, const IntervalMap& code, std::shared_ptr<SharedInlineTree> tree)
    : die_(die), root_(root), code_(code), tree_(std::move(tree)) {
  if (const char* dir = stringAttribute(die_, DW_AT_comp_dir)) compilationDir_ = dir;
}

const LineTable& Unit::lines() {
  if (!lines_) lines_.emplace(die_, compilationDir_, code_);
  return *lines_;
}

FileTable& Unit::files() {
  if (!files_) files_.emplace(root_, compilationDir_);
  return *files_;
}

const InlineTree& Unit::functions() {
  if (functions_ == nullptr) functions_ = &tree_->get([this] { return InlineTree(scan(), code_); });
  return *functions_;
}

DieScan& Unit::scan() {
  if (!scan_) scan_.emplace(root_);
  return *scan_;
}

Dwarf_Die Unit::dieAt(Dwarf_Off offset) const {
  Dwarf_Die die{};
  if (dwarf_offdie(dwarf_cu_getdwarf(root_.cu), offset, &die) == nullptr) return Dwarf_Die{};
  return die;
}

Units::Units(Dwarf* dwarf, const IntervalMap& code, InlineTrees& trees, SplitUnits& splits)
    : code_(code), trees_(trees), splits_(splits) {
  std::vector<Interval> intervals;
  Dwarf_CU* cu = nullptr;
  Dwarf_Half version = 0;
  uint8_t type = 0;
  Dwarf_Die die;
  while (dwarf_get_units(dwarf, cu, &cu, &version, &type, &die, nullptr) == 0) {
    if (type == DW_UT_type || type == DW_UT_split_type) continue;
    const int tag = dwarf_tag(&die);
    if (tag == DW_TAG_partial_unit) {
      partialUnits_.push_back(cu);
      continue;
    }
    if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) continue;
    const auto id = static_cast<uint32_t>(compileUnits_.size());
    compileUnits_.push_back(cu);
    numbers_.emplace(cu, id);
    const size_t before = intervals.size();
    forEachRange(die, [&](Dwarf_Addr low, Dwarf_Addr high) {
      if (code_.find(low)) intervals.push_back({low, high, tightest(low, high), id});
    });
    // A unit without ranges has no code, or was written by a compiler that leaves them to its functions.
    if (intervals.size() == before && dwarf_haschildren(&die) == 1)
      if (Unit* unit = load(cu))
        for (const Interval& range : unit->functions().functionRanges)
          intervals.push_back({range.low, range.high, tightest(range.low, range.high), id});
  }
  map_ = IntervalMap(std::move(intervals));
}

Unit* Units::load(Dwarf_CU* cu) {
  const auto known = byCu_.find(cu);
  if (known != byCu_.end()) return known->second;
  const auto dies = unitDies(cu, splits_);
  if (!dies) return byCu_[cu] = nullptr;
  // A number says the same to all who have the file open; what is in another file has none.
  const auto number = numbers_.find(cu);
  owned_.push_back(std::make_unique<Unit>(
      dies->die, dies->root, code_,
      number != numbers_.end() ? trees_.of(number->second) : std::make_shared<SharedInlineTree>()));
  byCu_[dies->root.cu] = owned_.back().get();
  return byCu_[cu] = owned_.back().get();
}

Unit* Units::at(uint64_t address) {
  const auto id = map_.find(address);
  return id ? load(compileUnits_[*id]) : nullptr;
}

Unit* Units::of(const Dwarf_Die& die) {
  return die.cu == nullptr ? nullptr : load(die.cu);
}

Unit* Units::known(const Dwarf_Die& die) const {
  const auto known = byCu_.find(die.cu);
  return known != byCu_.end() ? known->second : nullptr;
}

std::vector<Dwarf_Die> Units::roots() const {
  std::vector<Dwarf_Die> all;
  for (const auto* list : {&compileUnits_, &partialUnits_})
    for (Dwarf_CU* cu : *list)
      if (const auto dies = unitDies(cu, splits_)) all.push_back(dies->root);
  return all;
}

std::vector<Language> Units::languagesWithoutTypes() const {
  if (!partialUnits_.empty()) return {};
  std::map<Language, bool> described;
  for (Dwarf_CU* cu : compileUnits_) {
    if (dwarf_getalt(dwarf_cu_getdwarf(cu)) != nullptr) return {};
    Dwarf_Die root{};
    uint8_t kind = 0;
    if (dwarf_cu_info(cu, nullptr, &kind, &root, nullptr, nullptr, nullptr, nullptr) != 0) continue;
    if (kind == DW_UT_skeleton) return {};
    bool& known = described[languageOfNumber(dwarf_srclang(&root))];
    known = known || describesTypes(root);
  }
  std::vector<Language> languages;
  for (const auto& [language, isDescribed] : described)
    if (!isDescribed && language != Language::unknown) languages.push_back(language);
  return languages;
}

}  // namespace cacheline::symbols
