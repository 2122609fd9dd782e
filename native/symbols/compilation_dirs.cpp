// All units are looked at when the first one without a folder is met.
#include "symbols/compilation_dirs.h"

#include <dwarf.h>

#include "symbols/die.h"

namespace cacheline::symbols {

void CompilationDirs::read() {
  if (isRead_ || dwarf_ == nullptr) return;
  isRead_ = true;
  Dwarf_CU* cu = nullptr;
  uint8_t kind = 0;
  Dwarf_Die die{};
  while (dwarf_get_units(dwarf_, cu, &cu, nullptr, &kind, &die, nullptr) == 0) {
    const char* dir = stringAttribute(die, DW_AT_comp_dir);
    if (dir == nullptr) continue;
    if (const auto table = unsignedAttribute(die, DW_AT_stmt_list)) byTable_.try_emplace(*table, dir);
    uint64_t id = 0;
    if (kind == DW_UT_skeleton &&
        dwarf_cu_info(cu, nullptr, nullptr, nullptr, nullptr, &id, nullptr, nullptr) == 0)
      byId_.try_emplace(id, dir);
  }
}

const std::string& CompilationDirs::ofSplit(Dwarf* file) {
  const auto [known, isNew] = bySplit_.try_emplace(file);
  Dwarf_CU* cu = nullptr;
  uint8_t kind = 0;
  while (isNew && dwarf_get_units(file, cu, &cu, nullptr, &kind, nullptr, nullptr) == 0) {
    uint64_t id = 0;
    if (kind != DW_UT_split_compile ||
        dwarf_cu_info(cu, nullptr, nullptr, nullptr, nullptr, &id, nullptr, nullptr) != 0)
      continue;
    if (const auto skeleton = byId_.find(id); skeleton != byId_.end()) known->second = skeleton->second;
    break;
  }
  return known->second;
}

std::string CompilationDirs::of(Dwarf_Die& unit) {
  if (const char* dir = stringAttribute(unit, DW_AT_comp_dir)) return dir;
  if (unit.cu == nullptr) return {};
  read();
  Dwarf* file = dwarf_cu_getdwarf(unit.cu);
  if (file != dwarf_) return ofSplit(file);
  const auto table = unsignedAttribute(unit, DW_AT_stmt_list);
  const auto same = table ? byTable_.find(*table) : byTable_.end();
  return same != byTable_.end() ? same->second : std::string();
}

}  // namespace cacheline::symbols
