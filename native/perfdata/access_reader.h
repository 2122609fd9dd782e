// Reads memory accesses out of samples, where they come in no order.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <vector>

#include "perfdata/address_filter.h"
#include "perfdata/reader.h"
#include "perfdata/record_header.h"
#include "perfdata/sample_layout.h"
#include "perfdata/stretch.h"

namespace cacheline::perfdata {

/// Of one thread: it remembers.
class AccessReader {
 public:
  /// `start`: where positions count from. `filter`: null reads all samples.
  AccessReader(const SampleLayouts& layouts, const uint8_t* start, const AddressFilter* filter)
      : layouts_(layouts), start_(start), filter_(filter) {
    for (uint32_t event = 0; event < layouts.size(); ++event)
      fields_.push_back(layouts[event].accessLayout());
  }

  /// Calls `visit(const AccessSample&)` for each sample; passes over all other records. `expect(ip, tid)`:
  /// most likely those of a sample that comes soon. Throws RecordChanged where the stretch is not what it
  /// was.
  template <typename Visit, typename Expect>
  void each(const Stretch& stretch, Visit&& visit, Expect&& expect) {
    if (layouts_.order() == ByteOrder::native)
      eachIn<ByteOrder::native>(stretch, visit, expect);
    else
      eachIn<ByteOrder::foreign>(stretch, visit, expect);
  }
  template <typename Visit>
  void each(const Stretch& stretch, Visit&& visit) {
    each(stretch, visit, [](uint64_t, uint32_t) {});
  }

  /// The same with all that a sample says: `visit(const Sample&)`, valid during the call.
  template <typename Visit>
  void eachSample(const Stretch& stretch, Visit&& visit) {
    if (layouts_.order() == ByteOrder::native)
      eachSampleIn<ByteOrder::native>(stretch, visit);
    else
      eachSampleIn<ByteOrder::foreign>(stretch, visit);
  }

  uint64_t malformed = 0, unknown = 0;  ///< samples that could not be read; unknown: of no event

 private:
  static constexpr size_t kSoon = 8;  ///< records: more than memory takes

  template <ByteOrder kOrder, typename Visit, typename Expect>
  void eachIn(const Stretch& stretch, Visit&& visit, Expect&& expect) {
    Stride stride;
    for (const uint8_t* at = stretch.at; at != stretch.end;) {
      // A sample is longer than a cache line.
      __builtin_prefetch(at + kPrefetchBytes);
      __builtin_prefetch(at + kPrefetchBytes + 64);
      const perf_event_header header = loadHeaderAgain(at, stretch.end, kOrder);
      if (header.type == PERF_RECORD_SAMPLE && isWanted<kOrder>(header, at))
        one<kOrder>(header, at, stretch.end, visit, expect);
      at = stride.next(at, header.size);
    }
  }

  template <ByteOrder kOrder, typename Visit>
  void eachSampleIn(const Stretch& stretch, Visit&& visit) {
    for (const uint8_t* at = stretch.at; at != stretch.end;) {
      __builtin_prefetch(at + kPrefetchBytes);
      const perf_event_header header = loadHeaderAgain(at, stretch.end, kOrder);
      const uint8_t *const body = at + sizeof header, *const end = at + header.size;
      if (header.type == PERF_RECORD_SAMPLE && isWanted<kOrder>(header, at)) {
        sample_ = Sample();
        const uint32_t event = layouts_.eventOf<kOrder>(body, end);
        if (event == SampleLayouts::kUnknownEvent) {
          ++unknown;
        } else if (!layouts_[event].parse<kOrder>(body, end, sample_, aligned_)) {
          ++malformed;
        } else {
          sample_.misc = header.misc;
          sample_.event = static_cast<uint16_t>(event);
          sample_.moment = {isTime(sample_.time) ? sample_.time : stretch.since, positionOf(at)};
          visit(sample_);
        }
      }
      at = end;
    }
  }

  template <ByteOrder kOrder>
  bool isWanted(const perf_event_header& header, const uint8_t* at) const {
    return filter_ == nullptr || layouts_.passes<kOrder>(*filter_, at + sizeof header, at + header.size);
  }

  template <ByteOrder kOrder, typename Visit, typename Expect>
  [[gnu::always_inline]] void one(const perf_event_header& header, const uint8_t* at,
                                  const uint8_t* stretchEnd, Visit&& visit, Expect&& expect) {
    const uint8_t *const body = at + sizeof header, *const end = at + header.size;
    const uint32_t event = layouts_.eventOf<kOrder>(body, end);
    if (event == SampleLayouts::kUnknownEvent) return void(++unknown);
    const AccessLayout& fields = fields_[event];
    if (kOrder != ByteOrder::native || !fields.usable) {
      // Another object: the one below then needs no memory.
      AccessSample parsed;
      if (!parse<kOrder>(layouts_[event], body, end, parsed)) return void(++malformed);
      parsed.misc = header.misc;
      parsed.position = positionOf(at);
      return visit(parsed);
    }
    if (static_cast<uint64_t>(end - body) < fields.size) return void(++malformed);
    // There is a sample like this one, as a rule.
    if (static_cast<size_t>(stretchEnd - at) > (kSoon + 1) * header.size)
      expect(load<uint64_t>(body + kSoon * header.size + fields.ip),
             load<uint32_t>(body + kSoon * header.size + fields.threadIds + 4));
    AccessSample access;
    access.misc = header.misc;
    access.position = positionOf(at);
    access.ip = load<uint64_t>(body + fields.ip);
    access.pid = load<uint32_t>(body + fields.threadIds);
    access.tid = load<uint32_t>(body + fields.threadIds + 4);
    access.time = load<uint64_t>(body + fields.time);
    access.address = load<uint64_t>(body + fields.address);
    access.cpu = static_cast<uint32_t>(fields.cpu.in(body));
    access.weight = fields.weight.in(body);
    access.dataSource = load<uint64_t>(body + fields.dataSource);
    access.physicalAddress = fields.physicalAddress.in(body);
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

  uint64_t positionOf(const uint8_t* at) const { return static_cast<uint64_t>(at - start_); }

  SampleLayouts layouts_;
  const uint8_t* start_;
  const AddressFilter* filter_;
  std::vector<AccessLayout> fields_;  ///< by event
  Sample sample_;
  std::vector<uint64_t> aligned_;
};

}  // namespace cacheline::perfdata
