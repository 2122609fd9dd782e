// Format: DWARF 5, 7.25.
#include "symbols/range_lists.h"

#include <dwarf.h>

#include <optional>

namespace cacheline::symbols {
namespace {

constexpr size_t kMostEntries = 1 << 20;  // of one list

}  // namespace

RangeLists::RangeLists(Dwarf_Die die) : unit_(unitLists(die, ".debug_rnglists")) {}

const std::vector<std::pair<uint64_t, uint64_t>>* RangeLists::of(const DieScan& scan,
                                                                 const DieScan::Here& here) {
  std::optional<uint64_t> offset;
  const bool whole = scan.forEachAttribute(here, [&](const DieScan::Raw& attribute) {
    if (attribute.name != DW_AT_ranges || attribute.form != DW_FORM_sec_offset) return;
    Cursor cursor{{attribute.bytes, static_cast<size_t>(attribute.size)}, unit_.format};
    offset = attribute.size == sizeof(uint64_t) ? cursor.word<uint64_t>() : cursor.word<uint32_t>();
  });
  return whole && offset && read(*offset) ? &ranges_ : nullptr;
}

bool RangeLists::read(uint64_t offset) {
  ranges_.clear();
  if (offset >= unit_.lists.size()) return false;
  uint64_t base = unit_.base;
  Cursor cursor{unit_.lists.subspan(static_cast<size_t>(offset)), unit_.format};
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
