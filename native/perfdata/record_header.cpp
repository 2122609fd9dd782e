// Where a record ends.
#include "perfdata/record_header.h"

namespace cacheline::perfdata {
namespace {

RecordExtent cut(uint64_t needed, std::string problem) {
  return {RecordExtent::Kind::cut, needed, {}, std::move(problem)};
}

RecordExtent damaged(std::string problem) {
  return {RecordExtent::Kind::damaged, 0, {}, std::move(problem)};
}

}  // namespace

RecordExtent extentOf(const uint8_t* at, uint64_t left, ByteOrder order) {
  constexpr uint64_t kHead = sizeof(perf_event_header);
  if (left < kHead) return cut(kHead, "is cut off after " + std::to_string(left) + " bytes");
  const perf_event_header head = loadHeader(at, order);
  if (head.size < kHead)
    return damaged("says it has " + std::to_string(head.size) + " bytes, fewer than its own header");
  if (head.size > left) {
    return cut(head.size, "says it has " + std::to_string(head.size) + " bytes, but only " +
                              std::to_string(left) + " are left");
  }
  if (!hasTail(head.type)) return {RecordExtent::Kind::whole, head.size, head, {}};
  // The size of what follows is the record's first field.
  const bool wide = head.type == kRecordAuxtrace;
  if (head.size < kHead + (wide ? 8 : 4)) return damaged("announces trace data without saying how much");
  const uint64_t tail = wide ? load<uint64_t>(at + kHead, order) : load<uint32_t>(at + kHead, order);
  if (tail > left - head.size) {
    std::string problem = "says that " + std::to_string(tail) + " bytes of trace data follow, but only " +
                          std::to_string(left - head.size) + " are left";
    // No recording holds more than the address space.
    return tail >> 48 != 0 ? damaged(std::move(problem)) : cut(head.size + tail, std::move(problem));
  }
  return {RecordExtent::Kind::whole, head.size + tail, head, {}};
}

}  // namespace cacheline::perfdata
