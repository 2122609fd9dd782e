// Reads memory accesses out of samples, where they come in no order.
#pragma once

#include <linux/perf_event.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "perfdata/casualties.h"
#include "perfdata/reader.h"
#include "perfdata/record_header.h"
#include "perfdata/sample_layout.h"
#include "perfdata/stretch.h"

namespace cacheline::perfdata {

/// Of one thread: it remembers.
class AccessReader {
 public:
  explicit AccessReader(const SampleLayouts& layouts) : layouts_(layouts) {
    for (uint32_t event = 0; event < layouts.size(); ++event)
      fields_.push_back(layouts[event].accessLayout());
  }

  /// Calls `visit(const AccessSample&)` for each sample; passes over all other records.
  template <typename Visit>
  void each(const Stretch& stretch, Visit&& visit) {
    if (layouts_.order() == ByteOrder::native)
      eachIn<ByteOrder::native>(stretch, visit);
    else
      eachIn<ByteOrder::foreign>(stretch, visit);
  }

  Failures malformed, unknown;  ///< samples that could not be read: see Undelivered

 private:
  template <ByteOrder kOrder, typename Visit>
  void eachIn(const Stretch& stretch, Visit&& visit) {
    for (const uint8_t* at = stretch.at; at != stretch.end;) {
      __builtin_prefetch(at + kPrefetchBytes);
      const perf_event_header header = loadHeader(at, kOrder);
      if (header.type == PERF_RECORD_SAMPLE) [[likely]]
        one<kOrder>(header, at, visit);
      at += header.size;
    }
  }

  template <ByteOrder kOrder, typename Visit>
  [[gnu::always_inline]] void one(const perf_event_header& header, const uint8_t* at, Visit&& visit) {
    const uint8_t *const body = at + sizeof header, *const end = at + header.size;
    const uint32_t event = layouts_.eventOf<kOrder>(body, end);
    if (event == SampleLayouts::kUnknownEvent) return unknown.add(at);
    const AccessLayout& fields = fields_[event];
    AccessSample access;
    if (kOrder != ByteOrder::native || !fields.usable) {
      if (!parse<kOrder>(layouts_[event], body, end, access)) return malformed.add(at);
      access.misc = header.misc;
      return visit(access);
    }
    if (static_cast<uint64_t>(end - body) < fields.size) return malformed.add(at);
    access.misc = header.misc;
    access.ip = fields.ip.in(body);
    access.time = fields.time.in(body);
    access.address = fields.address.in(body);
    access.weight = fields.weight.in(body);
    access.dataSource = fields.dataSource.in(body);
    access.physicalAddress = fields.physicalAddress.in(body);
    access.cpu = static_cast<uint32_t>(fields.cpu.in(body));
    const uint64_t ids = fields.threadIds.in(body);  // two halves, in the order of memory
    const auto low = static_cast<uint32_t>(ids), high = static_cast<uint32_t>(ids >> 32);
    constexpr bool kLittle = std::endian::native == std::endian::little;
    access.pid = kLittle ? low : high;
    access.tid = kLittle ? high : low;
    visit(access);
  }

  template <ByteOrder kOrder>
  [[gnu::noinline]] bool parse(const SampleLayout& layout, const uint8_t* body, const uint8_t* end,
                               AccessSample& access) {
    sample_ = Sample();
    if (!layout.parse<kOrder>(body, end, sample_, aligned_)) return false;
    access = AccessSample(sample_);
    return true;
  }

  SampleLayouts layouts_;
  std::vector<AccessLayout> fields_;  ///< by event
  Sample sample_;
  std::vector<uint64_t> aligned_;
};

}  // namespace cacheline::perfdata
