// Where the fields of a sample and of the sample_id trailer of other records are, by
// perf_event_attr.sample_type. Source of the layouts: the comments on PERF_RECORD_SAMPLE and struct sample_id
// in <linux/perf_event.h>.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "perfdata/address_filter.h"
#include "perfdata/bytes.h"
#include "perfdata/event.h"
#include "perfdata/reader.h"

namespace cacheline::perfdata {

/// Where an AccessSample's fields are in samples of memory accesses as recorders make them: none of a
/// variable size, and those present without which there is little to say. In bytes from the body's start, of
/// 8-byte words.
struct AccessLayout {
  struct Field {
    uint32_t offset = 0;
    uint64_t mask = 0;  ///< of the word; 0: the event does not carry the field
    uint64_t in(const uint8_t* body) const { return load<uint64_t>(body + offset) & mask; }
  };
  bool usable = false;
  uint32_t size = 0;  ///< of the body, in bytes
  uint32_t ip = 0, threadIds = 0, time = 0, address = 0, dataSource = 0;
  Field cpu, weight, physicalAddress;
};

/// The layout of one event's samples.
class SampleLayout {
 public:
  /// Throws Error(unreadable) for read_format or branch_sample_type bits whose layout is not known. Bits of
  /// sample_type that are newer than the known ones are taken for fields behind those: see unknownFields().
  explicit SampleLayout(const perf_event_attr& attr);

  /// Parses the body of a sample (behind its perf_event_header) into the fields of `sample` that the event
  /// carries; others are left alone. False: the body is too short for what it says it holds. `aligned` holds
  /// the call chain where it cannot be used as the file has it: not on an 8-byte boundary, or in the other
  /// byte order.
  template <ByteOrder kOrder>
  bool parse(const uint8_t* body, const uint8_t* end, Sample& sample, std::vector<uint64_t>& aligned) const;

  AccessLayout accessLayout() const;
  uint64_t sampleType() const { return type_; }
  /// Bits of sample_type whose fields are not read.
  uint64_t unknownFields() const;
  /// Of TIME from the body's start, in bytes; kNone where there is none. So for the other fields, which all
  /// come before any of variable size.
  uint32_t timeOffset() const { return timeOffset_; }
  uint32_t addressOffset() const { return addressOffset_; }
  /// Of IDENTIFIER, else ID.
  uint32_t idOffset() const { return idOffset_; }

  static constexpr uint32_t kNone = ~0u;

 private:
  struct RegisterSet {
    explicit RegisterSet(uint64_t mask);
    struct Run {
      uint8_t first, count;  ///< neighbours in the mask are neighbours in the sample and in Registers
    };
    uint64_t knownMask = 0;  ///< of the registers that Registers has a place for; they come first
    uint32_t count = 0;      ///< 8-byte values in the sample
    std::vector<Run> runs;   ///< of the known ones
  };
  template <ByteOrder kOrder>
  static void readRegisters(const RegisterSet& set, const uint8_t* values, Registers& registers);
  template <ByteOrder kOrder>
  int64_t walk(const uint8_t* at, const uint8_t* end, bool emptyBranchStackHasIndex, Sample& sample,
               std::vector<uint64_t>& aligned) const;

  uint64_t type_;
  uint32_t timeOffset_ = kNone, addressOffset_ = kNone, idOffset_ = kNone;
  uint32_t minimumSize_ = 0;  ///< of the body: every field at its smallest
  bool readIsGroup_ = false, branchIndex_ = false;
  uint32_t readSize_ = 0;       ///< bytes of READ, of a group without its entries
  uint32_t readEntrySize_ = 0;  ///< bytes of each entry of a group
  uint32_t branchEntrySize_ = 24;
  RegisterSet userRegisters_, interruptRegisters_;
};

/// The layouts of all events of a file, and which of them a record has.
class SampleLayouts {
 public:
  /// Throws Error(unreadable) where the events cannot be told apart, naming what they miss.
  SampleLayouts(const std::vector<Event>& events, ByteOrder order);

  static constexpr uint32_t kUnknownEvent = ~0u;

  const SampleLayout& operator[](uint32_t event) const { return layouts_[event]; }
  size_t size() const { return layouts_.size(); }
  ByteOrder order() const { return order_; }
  /// The event of a sample, or kUnknownEvent where its id is no event's or the body is too short for an id.
  template <ByteOrder kOrder>
  uint32_t eventOf(const uint8_t* body, const uint8_t* end) {
    if (idOffset_ == SampleLayout::kNone) return 0;
    if (static_cast<uint64_t>(end - body) < uint64_t{idOffset_} + 8) return kUnknownEvent;
    return eventOfId(load<uint64_t>(body + idOffset_, kOrder));
  }
  /// The time of a sample in ns of the recording's clock; 0 where it carries none.
  template <ByteOrder kOrder>
  uint64_t sampleTime(const uint8_t* body, const uint8_t* end) {
    uint32_t offset = timeOffset_;
    if (!timeAgrees_) {
      const uint32_t event = eventOf<kOrder>(body, end);
      offset = event == kUnknownEvent ? SampleLayout::kNone : layouts_[event].timeOffset();
    }
    if (offset == SampleLayout::kNone || static_cast<uint64_t>(end - body) < uint64_t{offset} + 8) return 0;
    return load<uint64_t>(body + offset, kOrder);
  }

  /// Of TIME from the body's start, where all events have it at one place; else SampleLayout::kNone.
  uint32_t timeOffset() const { return timeAgrees_ ? timeOffset_ : SampleLayout::kNone; }
  /// Whether a filter keeps a sample: by its data address, where all events have one at the same place.
  template <ByteOrder kOrder>
  bool passes(const AddressFilter& filter, const uint8_t* body, const uint8_t* end) const {
    if (addressOffset_ == SampleLayout::kNone) return true;
    if (static_cast<uint64_t>(end - body) < uint64_t{addressOffset_} + 8) return true;
    return filter.mayHave(load<uint64_t>(body + addressOffset_, kOrder));
  }

  /// The sample_id trailer of a record that is no sample: its size in bytes, 0 where there is none, and
  /// what it holds; 0 for what it does not.
  struct Trailer {
    uint32_t size = 0;
    uint32_t pid = 0, tid = 0, cpu = 0;
    uint64_t time = 0, id = 0;
  };
  Trailer trailerOf(const uint8_t* body, const uint8_t* end);

 private:
  struct TrailerLayout {
    explicit TrailerLayout(const perf_event_attr& attr);
    bool operator==(const TrailerLayout&) const = default;
    uint32_t size = 0;
    uint32_t tid = 0, time = 0, id = 0, cpu = 0;  ///< bytes before the record's end; 0: not carried
  };
  uint32_t eventOfId(uint64_t id) {
    // What the recorder itself adds has id 0, belongs to no event and is laid out as the first one's.
    const IdEvent& recent = recent_[id % recent_.size()];
    return recent.id == id ? recent.event : findEvent(id);
  }
  uint32_t findEvent(uint64_t id);

  struct IdEvent {
    uint64_t id;
    uint32_t event;
  };

  ByteOrder order_;
  std::vector<SampleLayout> layouts_;
  std::vector<TrailerLayout> trailers_;
  uint32_t idOffset_ = SampleLayout::kNone;    ///< the same in all events; kNone: samples need no id
  uint32_t timeOffset_ = SampleLayout::kNone;  ///< where all events agree
  uint32_t addressOffset_ = SampleLayout::kNone;
  bool timeAgrees_ = true, trailersAgree_ = true;

  std::vector<IdEvent> ids_;         ///< ascending
  std::array<IdEvent, 256> recent_;  ///< by the id's low bits: the kernel counts ids up
};

}  // namespace cacheline::perfdata
