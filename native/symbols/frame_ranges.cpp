// .eh_frame_hdr and .eh_frame (Linux Standard Base Core, "Exception Frames").
#include "symbols/frame_ranges.h"

#include <cstring>

namespace cacheline::symbols {
namespace {

/// Of the image's byte order: x86-64 alone is asked for.
template <typename Value>
std::optional<Value> valueAt(const ElfImage& image, uint64_t address) {
  const auto bytes = image.bytesAt(address, sizeof(Value));
  if (bytes.size() != sizeof(Value)) return {};
  Value value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

uint64_t offsetBy(uint64_t address, int32_t offset) {
  return address + static_cast<uint64_t>(int64_t{offset});
}

}  // namespace

std::optional<Section> frameRange(const ElfImage& image, uint64_t address) {
  // Version 1; where .eh_frame is: relative, signed, 4 bytes; the count: 4 bytes; the table: relative to
  // this section, signed, 4 bytes.
  constexpr uint32_t kUsualForm = 0x3b'03'1b'01;
  constexpr uint64_t kTable = 12, kEntry = 8;
  const auto header = image.section(".eh_frame_hdr");
  if (!header || valueAt<uint32_t>(image, header->address) != kUsualForm) return {};
  const auto count = valueAt<uint32_t>(image, header->address + 8);
  if (!count || *count > header->size / kEntry) return {};
  const auto startOf = [&](uint64_t entry) -> std::optional<uint64_t> {
    const auto offset = valueAt<int32_t>(image, header->address + kTable + entry * kEntry);
    if (!offset) return {};
    return offsetBy(header->address, *offset);
  };
  uint64_t low = 0, high = *count;  // the last entry that starts at or before the address
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    const auto start = startOf(middle);
    if (!start) return {};
    if (*start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == 0) return {};
  const auto start = startOf(low - 1);
  const auto entry = valueAt<int32_t>(image, header->address + kTable + (low - 1) * kEntry + 4);
  if (!start || !entry) return {};
  // Length, CIE, start, size. That the start is relative, signed, 4 bytes is seen from what it comes to.
  const uint64_t frame = offsetBy(header->address, *entry);
  const auto relative = valueAt<int32_t>(image, frame + 8);
  const auto size = valueAt<uint32_t>(image, frame + 12);
  if (!relative || !size || offsetBy(frame + 8, *relative) != *start || address - *start >= *size) return {};
  return Section{*start, *size};
}

}  // namespace cacheline::symbols
