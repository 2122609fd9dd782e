// The layout of samples and sample_id trailers, computed once and applied to every record.
#include "perfdata/sample_layout.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "base/error.h"
#include "perfdata/bytes.h"
#include "perfdata/format.h"

namespace cacheline::perfdata {
namespace {

// Not the *_MAX of <linux/perf_event.h>: with newer headers these would take in bits that walk() knows
// nothing of.
constexpr uint64_t kKnownSampleTypes = (uint64_t{PERF_SAMPLE_WEIGHT_STRUCT} << 1) - 1;
constexpr uint64_t kKnownReadFormats = (kReadFormatLost << 1) - 1;
constexpr uint64_t kKnownBranchTypes = (kBranchSampleCounters << 1) - 1;
constexpr uint64_t kVariableSize = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
                                   PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
                                   PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_AUX;
constexpr uint64_t kWeights = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT;

uint32_t wordsOf(uint64_t bits) {
  return 8 * static_cast<uint32_t>(std::popcount(bits));
}

void requireKnown(uint64_t bits, uint64_t known, const char* what) {
  if ((bits & ~known) == 0) return;
  throw Error(ErrorKind::unreadable,
              std::string("an event's ") + what + " has bits of unknown layout: " + hexNumber(bits & ~known),
              "The recording comes from a newer kernel or is damaged.");
}

template <ByteOrder kOrder>
inline uint64_t takeWord(const uint8_t*& at) {
  const uint64_t value = load<uint64_t>(at, kOrder);
  at += 8;
  return value;
}

/// The fields in front of all that are of variable size, and those that recorders of memory accesses ask for.
constexpr uint64_t kFront = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                            PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
                            PERF_SAMPLE_PERIOD;
constexpr uint64_t kUsualFront = kFront & ~uint64_t{PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID};

template <ByteOrder kOrder>
[[gnu::always_inline]] inline void readFrontOf(uint64_t type, const uint8_t*& at, Sample& sample) {
  if ((type & PERF_SAMPLE_IDENTIFIER) != 0) sample.id = takeWord<kOrder>(at);
  if ((type & PERF_SAMPLE_IP) != 0) sample.ip = takeWord<kOrder>(at);
  if ((type & PERF_SAMPLE_TID) != 0) {
    if constexpr (kOrder == ByteOrder::native) {
      // In one: who reads both at once would wait for two stores.
      static_assert(offsetof(Sample, tid) == offsetof(Sample, pid) + 4);
      std::memcpy(&sample.pid, at, 8);
    } else {
      sample.pid = load<uint32_t>(at, kOrder);
      sample.tid = load<uint32_t>(at + 4, kOrder);
    }
    at += 8;
  }
  if ((type & PERF_SAMPLE_TIME) != 0) sample.time = takeWord<kOrder>(at);
  if ((type & PERF_SAMPLE_ADDR) != 0) sample.address = takeWord<kOrder>(at);
  if ((type & PERF_SAMPLE_ID) != 0) sample.id = takeWord<kOrder>(at);
  if ((type & PERF_SAMPLE_STREAM_ID) != 0) sample.streamId = takeWord<kOrder>(at);
  if ((type & PERF_SAMPLE_CPU) != 0) {  // a word of two halves, the second one reserved
    sample.cpu = load<uint32_t>(at, kOrder);
    at += 8;
  }
  if ((type & PERF_SAMPLE_PERIOD) != 0) sample.period = takeWord<kOrder>(at);
}

/// Where the fields are known when this is compiled, it costs no questions.
template <ByteOrder kOrder>
inline void readFront(uint64_t type, const uint8_t*& at, Sample& sample) {
  if ((type & kFront) == kUsualFront) [[likely]]
    readFrontOf<kOrder>(kUsualFront, at, sample);
  else
    readFrontOf<kOrder>(type, at, sample);
}

/// The fields between the user's stack and the interrupt's registers.
template <ByteOrder kOrder>
inline void readWeights(uint64_t type, const uint8_t*& at, Sample& sample) {
  if ((type & PERF_SAMPLE_WEIGHT) != 0) {
    sample.weight = takeWord<kOrder>(at);
  } else if ((type & PERF_SAMPLE_WEIGHT_STRUCT) != 0) {
    // The halves are declared the other way round on big-endian machines: the word is the same.
    const uint64_t weights = takeWord<kOrder>(at);
    sample.weight = static_cast<uint32_t>(weights);  // var1_dw: the latency in cycles
    sample.instructionLatency = static_cast<uint16_t>(weights >> 32);
    sample.pipelineStage = static_cast<uint16_t>(weights >> 48);
  }
  if ((type & PERF_SAMPLE_DATA_SRC) != 0) sample.dataSource = takeWord<kOrder>(at);
  if ((type & PERF_SAMPLE_TRANSACTION) != 0) sample.transaction = takeWord<kOrder>(at);
}

/// The fields behind the interrupt's registers, up to AUX.
template <ByteOrder kOrder>
inline void readBack(uint64_t type, const uint8_t*& at, Sample& sample) {
  if ((type & PERF_SAMPLE_PHYS_ADDR) != 0) sample.physicalAddress = takeWord<kOrder>(at);
  if ((type & PERF_SAMPLE_CGROUP) != 0) sample.cgroup = takeWord<kOrder>(at);
  if ((type & PERF_SAMPLE_DATA_PAGE_SIZE) != 0) sample.dataPageSize = takeWord<kOrder>(at);
  if ((type & PERF_SAMPLE_CODE_PAGE_SIZE) != 0) sample.codePageSize = takeWord<kOrder>(at);
}

}  // namespace

SampleLayout::RegisterSet::RegisterSet(uint64_t mask)
    : knownMask(mask & ((uint64_t{1} << kRegCount) - 1)), count(static_cast<uint32_t>(std::popcount(mask))) {
  for (uint8_t reg = 0; reg < kRegCount; ++reg) {
    if (((knownMask >> reg) & 1) == 0) continue;
    if (runs.empty() || runs.back().first + runs.back().count != reg) runs.push_back({reg, 0});
    ++runs.back().count;
  }
}

SampleLayout::SampleLayout(const perf_event_attr& attr)
    : type_(attr.sample_type),
      userRegisters_(attr.sample_regs_user),
      interruptRegisters_(attr.sample_regs_intr) {
  if ((type_ & PERF_SAMPLE_READ) != 0) requireKnown(attr.read_format, kKnownReadFormats, "read_format");
  if ((type_ & PERF_SAMPLE_BRANCH_STACK) != 0) {
    requireKnown(attr.branch_sample_type, kKnownBranchTypes, "branch_sample_type");
  }

  const auto before = [&](uint64_t bits) { return wordsOf(type_ & bits); };
  if ((type_ & PERF_SAMPLE_TIME) != 0) {
    timeOffset_ = before(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID);
  }
  if ((type_ & PERF_SAMPLE_ADDR) != 0) {
    addressOffset_ = before(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
  }
  if ((type_ & PERF_SAMPLE_IDENTIFIER) != 0) {
    idOffset_ = 0;
  } else if ((type_ & PERF_SAMPLE_ID) != 0) {
    idOffset_ = before(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR);
  }

  readIsGroup_ = (attr.read_format & PERF_FORMAT_GROUP) != 0;
  readEntrySize_ = 8 + wordsOf(attr.read_format & (PERF_FORMAT_ID | kReadFormatLost));
  readSize_ = wordsOf(attr.read_format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)) +
              (readIsGroup_ ? 8 : readEntrySize_);
  branchIndex_ = (attr.branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX) != 0;
  if ((attr.branch_sample_type & kBranchSampleCounters) != 0) branchEntrySize_ += 8;

  // Every field that is not listed apart takes one word, or starts with one that says how much follows.
  minimumSize_ = wordsOf(type_ & kKnownSampleTypes & ~(PERF_SAMPLE_READ | PERF_SAMPLE_RAW | kWeights));
  if ((type_ & PERF_SAMPLE_READ) != 0) minimumSize_ += readSize_;
  if ((type_ & PERF_SAMPLE_RAW) != 0) minimumSize_ += 4;
  if ((type_ & kWeights) != 0) minimumSize_ += 8;
}

uint64_t SampleLayout::unknownFields() const {
  return type_ & ~kKnownSampleTypes;
}

AccessLayout SampleLayout::accessLayout() const {
  constexpr uint64_t kNeeded =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC;
  constexpr uint64_t kHalf = 0xffffffff;
  AccessLayout layout;
  layout.size = minimumSize_;
  layout.usable = (type_ & kVariableSize) == 0 && (type_ & kNeeded) == kNeeded;
  // In the order of <linux/perf_event.h>.
  uint32_t at = 0;
  const auto take = [&](uint64_t bits) {
    const uint32_t offset = at;
    if ((type_ & bits) != 0) at += 8;
    return offset;
  };
  const auto takeField = [&](uint64_t bits, uint64_t mask) {
    return AccessLayout::Field{take(bits), (type_ & bits) == 0 ? 0 : mask};
  };
  take(PERF_SAMPLE_IDENTIFIER);
  layout.ip = take(PERF_SAMPLE_IP);
  layout.threadIds = take(PERF_SAMPLE_TID);
  layout.time = take(PERF_SAMPLE_TIME);
  layout.address = take(PERF_SAMPLE_ADDR);
  take(PERF_SAMPLE_ID);
  take(PERF_SAMPLE_STREAM_ID);
  layout.cpu = takeField(PERF_SAMPLE_CPU, kHalf);
  take(PERF_SAMPLE_PERIOD);
  layout.weight = takeField(kWeights, (type_ & PERF_SAMPLE_WEIGHT) != 0 ? ~uint64_t{0} : kHalf);
  layout.dataSource = take(PERF_SAMPLE_DATA_SRC);
  take(PERF_SAMPLE_TRANSACTION);
  layout.physicalAddress = takeField(PERF_SAMPLE_PHYS_ADDR, ~uint64_t{0});
  // What is not there is read all the same, where something is.
  for (AccessLayout::Field* field : {&layout.cpu, &layout.weight, &layout.physicalAddress})
    if (field->mask == 0) field->offset = layout.ip;
  return layout;
}

template <ByteOrder kOrder>
bool SampleLayout::parse(const uint8_t* body, const uint8_t* end, Sample& sample,
                         std::vector<uint64_t>& aligned) const {
  if ((type_ & kVariableSize) == 0) [[likely]] {
    if (static_cast<uint64_t>(end - body) < minimumSize_) return false;
    readFront<kOrder>(type_, body, sample);
    readWeights<kOrder>(type_, body, sample);
    readBack<kOrder>(type_, body, sample);
    return true;
  }
  const int64_t unused = walk<kOrder>(body, end, true, sample, aligned);
  if (unused == 0 || !branchIndex_) return unused >= 0;
  // A sample without branches carries the hardware index or not, depending on whether the CPU gave a branch
  // stack at all.
  if (unknownFields() == 0 && walk<kOrder>(body, end, false, sample, aligned) == 0) return true;
  return walk<kOrder>(body, end, true, sample, aligned) >= 0;
}

/// The bytes left over, or -1 where the fields need more than there are. The body's length is checked once
/// against the minimum; from then on every variable part is paid for out of what the body has beyond it.
template <ByteOrder kOrder>
int64_t SampleLayout::walk(const uint8_t* at, const uint8_t* end, bool emptyBranchStackHasIndex,
                           Sample& sample, std::vector<uint64_t>& aligned) const {
  const auto size = static_cast<uint64_t>(end - at);
  if (size < minimumSize_) return -1;
  uint64_t spare = size - minimumSize_;
  const uint64_t type = type_;

  readFront<kOrder>(type, at, sample);
  const auto pay = [&spare](uint64_t count, uint64_t bytesEach) {
    if (count > spare / bytesEach) return false;
    spare -= count * bytesEach;
    return true;
  };
  if ((type & PERF_SAMPLE_READ) != 0) {
    if (readIsGroup_) {
      const uint64_t count = load<uint64_t>(at, kOrder);
      if (!pay(count, readEntrySize_)) return -1;
      at += count * readEntrySize_;
    }
    at += readSize_;
  }
  if ((type & PERF_SAMPLE_CALLCHAIN) != 0) {
    const uint64_t count = takeWord<kOrder>(at);
    if (!pay(count, 8)) return -1;
    if (kOrder == ByteOrder::native && reinterpret_cast<uintptr_t>(at) % alignof(uint64_t) == 0) {
      sample.callchain = {reinterpret_cast<const uint64_t*>(at), static_cast<size_t>(count)};
    } else {
      aligned.resize(count);
      for (uint64_t i = 0; i < count; ++i) aligned[i] = load<uint64_t>(at + 8 * i, kOrder);
      sample.callchain = aligned;
    }
    at += 8 * count;
  }
  if ((type & PERF_SAMPLE_RAW) != 0) {
    const uint32_t bytes = load<uint32_t>(at, kOrder);
    if (!pay(bytes, 1)) return -1;
    at += 4 + uint64_t{bytes};
  }
  if ((type & PERF_SAMPLE_BRANCH_STACK) != 0) {
    const uint64_t count = takeWord<kOrder>(at);
    const uint64_t indexSize = branchIndex_ && (count != 0 || emptyBranchStackHasIndex) ? 8 : 0;
    if (!pay(indexSize, 1) || !pay(count, branchEntrySize_)) return -1;
    at += indexSize + count * branchEntrySize_;
  }
  if ((type & PERF_SAMPLE_REGS_USER) != 0) {
    sample.registers.mask = 0;
    sample.registersAbi = static_cast<uint8_t>(takeWord<kOrder>(at));
    if (sample.registersAbi != PERF_SAMPLE_REGS_ABI_NONE) {
      if (!pay(userRegisters_.count, 8)) return -1;
      if ((type & PERF_SAMPLE_REGS_INTR) == 0) readRegisters<kOrder>(userRegisters_, at, sample.registers);
      at += 8 * uint64_t{userRegisters_.count};
    }
  }
  if ((type & PERF_SAMPLE_STACK_USER) != 0) {
    const uint64_t bytes = takeWord<kOrder>(at);
    sample.userStack = {};
    if (bytes != 0) {  // the size that the kernel really copied follows the bytes
      if (!pay(bytes, 1) || !pay(8, 1)) return -1;
      sample.userStack = {at, static_cast<size_t>(std::min(bytes, load<uint64_t>(at + bytes, kOrder)))};
      at += bytes + 8;
    }
  }
  readWeights<kOrder>(type, at, sample);
  if ((type & PERF_SAMPLE_REGS_INTR) != 0) {
    sample.registers.mask = 0;
    sample.registersAbi = static_cast<uint8_t>(takeWord<kOrder>(at));
    if (sample.registersAbi != PERF_SAMPLE_REGS_ABI_NONE) {
      if (!pay(interruptRegisters_.count, 8)) return -1;
      readRegisters<kOrder>(interruptRegisters_, at, sample.registers);
      at += 8 * uint64_t{interruptRegisters_.count};
    }
  }
  readBack<kOrder>(type, at, sample);
  if ((type & PERF_SAMPLE_AUX) != 0 && !pay(load<uint64_t>(at, kOrder), 1)) return -1;
  return static_cast<int64_t>(spare);
}

template <ByteOrder kOrder>
void SampleLayout::readRegisters(const RegisterSet& set, const uint8_t* values, Registers& registers) {
  registers.mask = set.knownMask;
  for (const RegisterSet::Run run : set.runs) {
    for (uint8_t reg = run.first; reg < run.first + run.count; ++reg, values += 8)
      registers.value[reg] = load<uint64_t>(values, kOrder);
  }
}

template bool SampleLayout::parse<ByteOrder::native>(const uint8_t*, const uint8_t*, Sample&,
                                                     std::vector<uint64_t>&) const;
template bool SampleLayout::parse<ByteOrder::foreign>(const uint8_t*, const uint8_t*, Sample&,
                                                      std::vector<uint64_t>&) const;

SampleLayouts::TrailerLayout::TrailerLayout(const perf_event_attr& attr) {
  if (attr.sample_id_all == 0) return;
  const auto words = [&](uint64_t bits) { return wordsOf(attr.sample_type & bits); };
  const uint64_t behindId = PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
  const uint64_t behindTime = PERF_SAMPLE_ID | behindId;
  size = words(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | behindTime);
  if (words(PERF_SAMPLE_TID) != 0) tid = size;
  if (words(PERF_SAMPLE_CPU) != 0) cpu = 8 + words(PERF_SAMPLE_IDENTIFIER);
  if (words(PERF_SAMPLE_TIME) != 0) time = 8 + words(behindTime);
  if (words(PERF_SAMPLE_IDENTIFIER) != 0) {
    id = 8;
  } else if (words(PERF_SAMPLE_ID) != 0) {
    id = 8 + words(behindId);
  }
}

SampleLayouts::SampleLayouts(const std::vector<Event>& events, ByteOrder order) : order_(order) {
  recent_.fill({0, 0});  // id 0 stands for the first event
  for (const Event& event : events) {
    layouts_.emplace_back(event.attr);
    trailers_.emplace_back(event.attr);
    const auto index = static_cast<uint32_t>(layouts_.size() - 1);
    for (const uint64_t id : event.ids) ids_.push_back({id, index});
  }
  std::stable_sort(ids_.begin(), ids_.end(), [](const IdEvent& a, const IdEvent& b) { return a.id < b.id; });

  const SampleLayout& first = layouts_.front();
  const auto all = [&](auto&& agrees) { return std::all_of(layouts_.begin(), layouts_.end(), agrees); };
  timeOffset_ = first.timeOffset();
  timeAgrees_ = all([&](const SampleLayout& layout) { return layout.timeOffset() == first.timeOffset(); });
  if (all([&](const SampleLayout& layout) { return layout.addressOffset() == first.addressOffset(); }))
    addressOffset_ = first.addressOffset();
  trailersAgree_ = std::all_of(trailers_.begin(), trailers_.end(),
                               [&](const TrailerLayout& t) { return t == trailers_.front(); });
  if (layouts_.size() == 1) return;

  idOffset_ = first.idOffset();
  if (idOffset_ == SampleLayout::kNone ||
      !all([&](const SampleLayout& l) { return l.idOffset() == idOffset_; })) {
    throw Error(ErrorKind::unreadable,
                "the file has " + std::to_string(layouts_.size()) +
                    " events whose samples cannot be told apart: their sample types have no IDENTIFIER, and "
                    "no ID at one place",
                "Record with one event, or with sample identifiers.");
  }
  if (!trailersAgree_ && !std::all_of(trailers_.begin(), trailers_.end(), [&](const TrailerLayout& t) {
        return t.id != 0 && t.id == trailers_.front().id;
      })) {
    throw Error(ErrorKind::unreadable,
                "the file has events whose sample_id trailers differ and carry no identifier at one place",
                "Record with one event, or with sample identifiers.");
  }
}

uint32_t SampleLayouts::findEvent(uint64_t id) {
  if (id == 0) return 0;
  const auto found = std::lower_bound(
      ids_.begin(), ids_.end(), id, [](const IdEvent& entry, uint64_t wanted) { return entry.id < wanted; });
  if (found == ids_.end() || found->id != id) return kUnknownEvent;
  recent_[id % recent_.size()] = *found;
  return found->event;
}

SampleLayouts::Trailer SampleLayouts::trailerOf(const uint8_t* body, const uint8_t* end) {
  const auto size = static_cast<uint64_t>(end - body);
  const TrailerLayout* layout = &trailers_.front();
  if (!trailersAgree_) {
    if (size < layout->id) return {};
    const uint32_t event = eventOfId(load<uint64_t>(end - layout->id, order_));
    if (event == kUnknownEvent) return {};
    layout = &trailers_[event];
  }
  if (layout->size == 0 || size < layout->size) return {};
  Trailer trailer;
  trailer.size = layout->size;
  if (layout->tid != 0) {
    trailer.pid = load<uint32_t>(end - layout->tid, order_);
    trailer.tid = load<uint32_t>(end - layout->tid + 4, order_);
  }
  if (layout->time != 0) trailer.time = load<uint64_t>(end - layout->time, order_);
  if (layout->cpu != 0) trailer.cpu = load<uint32_t>(end - layout->cpu, order_);
  if (layout->id != 0) trailer.id = load<uint64_t>(end - layout->id, order_);
  return trailer;
}

}  // namespace cacheline::perfdata
