// perf_event_attr as a file holds it. Source of the layout: <linux/perf_event.h>.
#include "perfdata/attr_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace cacheline::perfdata {
namespace {

/// `disabled` is the first of the flags: they are the 64 bits behind read_format.
constexpr size_t kFlagsOffset = offsetof(perf_event_attr, read_format) + sizeof(uint64_t);
/// The one flag of two bits, precise_ip, counted from the first flag.
constexpr uint32_t kPreciseIpBit = 15;

/// Compilers give the first flag the lowest bit on little-endian machines, the highest one on big-endian
/// ones; within a flag of several bits the order stays.
uint64_t mirrorFlags(uint64_t flags) {
  uint64_t mirrored = 0;
  for (uint32_t bit = 0; bit < 64; ++bit) mirrored |= (flags >> bit & 1) << (63 - bit);
  const uint64_t low = mirrored >> kPreciseIpBit & 1, high = mirrored >> (kPreciseIpBit + 1) & 1;
  mirrored &= ~(uint64_t{3} << kPreciseIpBit);
  return mirrored | high << kPreciseIpBit | low << (kPreciseIpBit + 1);
}

template <typename T>
void swapField(T& field) {
  using Raw = std::make_unsigned_t<T>;
  field = static_cast<T>(swapBytes(static_cast<Raw>(field)));
}

void swapAttr(perf_event_attr& attr) {
  swapField(attr.type);
  swapField(attr.size);
  swapField(attr.config);
  swapField(attr.sample_period);
  swapField(attr.sample_type);
  swapField(attr.read_format);
  auto* flags = reinterpret_cast<uint8_t*>(&attr) + kFlagsOffset;
  const uint64_t mirrored = mirrorFlags(load<uint64_t>(flags, ByteOrder::foreign));
  std::memcpy(flags, &mirrored, sizeof mirrored);
  swapField(attr.wakeup_events);
  swapField(attr.bp_type);
  swapField(attr.config1);
  swapField(attr.config2);
  swapField(attr.branch_sample_type);
  swapField(attr.sample_regs_user);
  swapField(attr.sample_stack_user);
  swapField(attr.clockid);
  swapField(attr.sample_regs_intr);
  swapField(attr.aux_watermark);
  swapField(attr.sample_max_stack);
  swapField(attr.aux_sample_size);
  swapField(attr.sig_data);
}

}  // namespace

uint32_t attrSizeOf(std::span<const uint8_t> bytes, ByteOrder order) {
  const auto size = load<uint32_t>(bytes.data() + offsetof(perf_event_attr, size), order);
  return size == 0 ? PERF_ATTR_SIZE_VER0 : size;  // what it was before the field was filled in
}

perf_event_attr readAttr(std::span<const uint8_t> bytes, ByteOrder order) {
  perf_event_attr attr{};
  if (!bytes.empty()) std::memcpy(&attr, bytes.data(), std::min(bytes.size(), sizeof attr));
  if (order == ByteOrder::foreign) swapAttr(attr);
  return attr;
}

}  // namespace cacheline::perfdata
