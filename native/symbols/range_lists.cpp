// Format: DWARF 5, 7.25.
#include "symbols/range_lists.h"

#include <dwarf.h>
#include <gelf.h>

#include <bit>
#include <optional>

#include "symbols/raw_sections.h"

namespace cacheline::symbols {

namespace {

constexpr size_t kMostEntries = 1 << 20;  // of one list

}  // namespace

RangeLists::RangeLists(Dwarf_Die die) {
  Dwarf_Die unit{};
  uint8_t addressSize = 0, kind = 0;
  Dwarf_Half version = 0;
  if (die.cu == nullptr || dwarf_diecu(&die, &unit, &addressSize, nullptr) == nullptr ||
      addressSize != sizeof(uint64_t) ||
      dwarf_cu_info(die.cu, &version, &kind, nullptr, nullptr, nullptr, nullptr, nullptr) != 0 ||
      version != 5 || kind == DW_UT_split_compile)
    return;
  Elf* elf = dwarf_getelf(dwarf_cu_getdwarf(die.cu));
  GElf_Ehdr header;
  // The sections of an object file want relocating.
  if (gelf_getehdr(elf, &header) == nullptr || header.e_type == ET_REL) return;
  const bool has = dwarf_hasattr(&unit, DW_AT_low_pc) == 1;
  if (has ? dwarf_lowpc(&unit, &base_) != 0 : dwarf_hasattr(&unit, DW_AT_entry_pc) == 1) return;
  format_.swapped = (header.e_ident[EI_DATA] == ELFDATA2MSB) != (std::endian::native == std::endian::big);
  lists_ = plainSection(elf, ".debug_rnglists");
}

const std::vector<std::pair<uint64_t, uint64_t>>* RangeLists::of(const DieScan& scan,
                                                                 const DieScan::Here& here) {
  std::optional<uint64_t> offset;
  const bool whole = scan.forEachAttribute(here, [&](const DieScan::Raw& attribute) {
    if (attribute.name != DW_AT_ranges || attribute.form != DW_FORM_sec_offset) return;
    Cursor cursor{{attribute.bytes, static_cast<size_t>(attribute.size)}, format_};
    offset = attribute.size == sizeof(uint64_t) ? cursor.word<uint64_t>() : cursor.word<uint32_t>();
  });
  return whole && offset && read(*offset) ? &ranges_ : nullptr;
}

bool RangeLists::read(uint64_t offset) {
  ranges_.clear();
  if (offset >= lists_.size()) return false;
  uint64_t base = base_;
  Cursor cursor{lists_.subspan(static_cast<size_t>(offset)), format_};
  for (size_t entry = 0; cursor.good && entry < kMostEntries; ++entry) {
    uint64_t low = 0, high = 0;
    switch (cursor.byte()) {
      case DW_RLE_end_of_list:
        return cursor.good;
      case DW_RLE_base_address:
        base = cursor.word<uint64_t>();
        continue;
      case DW_RLE_offset_pair:
        low = base + cursor.uleb();
        high = base + cursor.uleb();
        break;
      case DW_RLE_start_end:
        low = cursor.word<uint64_t>();
        high = cursor.word<uint64_t>();
        break;
      case DW_RLE_start_length:
        low = cursor.word<uint64_t>();
        high = low + cursor.uleb();
        break;
      default:
        return false;
    }
    if (high > low) ranges_.emplace_back(low, high);
  }
  return false;
}

}  // namespace cacheline::symbols
