// The walk over a file of records.
#include "perfdata/outline.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "perfdata/record_header.h"
#include "perfdata/record_parser.h"

namespace cacheline::perfdata {

namespace {

/// What one thread reads at a time: some hundred samples.
constexpr std::ptrdiff_t kLongestStretch = 128 << 10;
constexpr std::ptrdiff_t kLongestBatch = 64 << 20;  ///< of what is plain

/// Of those that say of processes, threads and mappings when they were what.
bool isOther(uint32_t type) {
  constexpr uint64_t kTypes = 1ull << PERF_RECORD_MMAP | 1ull << PERF_RECORD_MMAP2 |
                              1ull << PERF_RECORD_COMM | 1ull << PERF_RECORD_FORK | 1ull << PERF_RECORD_EXIT |
                              1ull << PERF_RECORD_LOST | 1ull << PERF_RECORD_LOST_SAMPLES |
                              1ull << PERF_RECORD_KSYMBOL;
  return type < 64 && ((kTypes >> type) & 1) != 0;
}

template <ByteOrder kOrder>
class Walk {
 public:
  Walk(const Recording& recording, const SampleLayouts& layouts, const std::function<bool(double)>& progress)
      : recording_(recording),
        progress_(progress),
        layouts_(layouts),
        times_(layouts_, nobody_),
        bytes_(recording.files.front().bytes.data()) {}

  std::optional<Outline> run() {
    const RecordFile& file = recording_.files.front();
    const uint8_t* at = bytes_ + file.data.offset;
    const uint8_t *const start = at, *const end = at + file.data.size;
    const std::ptrdiff_t step = (end - at) / kProgressSteps + 1;
    while (at < end) {
      report(static_cast<double>(at - start) / static_cast<double>(end - start));
      const uint8_t* const pause = at + std::min(step, end - at);
      const uint8_t* const next = walk(at, pause, end);
      if (compressed_) return std::nullopt;
      if (next < pause) break;  // what is not whole: the reading in order tells of it
      at = next;
    }
    // What is left is due now.
    Batch rest = std::move(due_[0]);
    rest.insert(rest.end(), due_[1].begin(), due_[1].end());
    finish(std::move(rest), delivered_);
    std::stable_sort(outline_.others.begin(), outline_.others.end(),
                     [](const auto& a, const auto& b) { return a.moment < b.moment; });
    return std::move(outline_);
  }

 private:
  /// A stretch, and the time of its oldest sample.
  struct Piece {
    Stretch stretch;
    uint64_t oldest = 0;
  };
  using Batch = std::vector<Piece>;

  void report(double share) const {
    if (progress_ && !progress_(share))
      throw Error(ErrorKind::cancelled, "reading " + recording_.name() + " was cancelled");
  }

  /// Walks to the first record at `pause` or behind it; not so far where one is not whole.
  const uint8_t* walk(const uint8_t* at, const uint8_t* pause, const uint8_t* end) {
    while (at < pause) {
      __builtin_prefetch(at + kPrefetchBytes);
      const auto left = static_cast<uint64_t>(end - at);
      perf_event_header header{};
      if (left >= sizeof header) header = loadHeader(at, kOrder);
      const uint8_t* next = at + header.size;
      if (header.size < sizeof header || header.size > left || hasTail(header.type)) [[unlikely]] {
        outline_.plain = false;
        const RecordExtent extent = extentOf(at, left, kOrder);
        if (extent.kind != RecordExtent::Kind::whole) return at;
        next = at + extent.size;
        open_ = nullptr;
      }
      if (header.type == PERF_RECORD_SAMPLE) {
        addSample(layouts_.sampleTime<kOrder>(at + sizeof header, next), at, next);
        next = addMore(next, pause, end);
      } else if (RecordParser::delivers(header.type)) {
        addOther(header, at);
      } else if (header.type == kRecordFinishedRound) {
        endRound();
      } else if (header.type == kRecordCompressed || header.type == kRecordCompressed2) {
        compressed_ = true;
        return at;
      }
      at = next;
    }
    return at;
  }

  void addSample(uint64_t time, const uint8_t* at, const uint8_t* next) {
    if (!isTime(time)) {
      outline_.plain = false;
      time = delivered_;
    } else {
      addTimes(time, time);
    }
    newest_ = std::max(newest_, time);
    const bool late = time > limit_;
    if (open_ == nullptr || late != openIsLate_ || at - open_->stretch.at >= kLongestStretch) {
      openIsLate_ = late;
      open_ = &due_[late ? 1 : 0].emplace_back(Piece{{at, at, delivered_}, time});
    }
    open_->oldest = std::min(open_->oldest, time);
    open_->stretch.end = next;
  }

  /// Adds the samples from `at` to the open piece that can go on with it: nearly all do. The record behind
  /// them.
  const uint8_t* addMore(const uint8_t* at, const uint8_t* pause, const uint8_t* end) {
    constexpr std::ptrdiff_t kLargestRecord = 1 << 16;
    const uint32_t timeAt = layouts_.timeOffset();
    if (timeAt == SampleLayout::kNone || end - at < kLargestRecord) return at;
    const uint8_t* const stop = std::min({pause, end - kLargestRecord, open_->stretch.at + kLongestStretch});
    const size_t smallest = sizeof(perf_event_header) + timeAt + 8;
    const uint8_t* const begin = at;
    uint64_t first = ~uint64_t{0}, last = 0;
    Stride stride;
    while (at < stop) {
      // Each record says where the next one is: without a hint every page starts with a wait.
      __builtin_prefetch(at + kPrefetchBytes);
      const perf_event_header header = loadHeader(at, kOrder);
      if (header.type != PERF_RECORD_SAMPLE || header.size < smallest) break;
      const uint64_t time = load<uint64_t>(at + sizeof header + timeAt, kOrder);
      if ((time > limit_) != openIsLate_ || !isTime(time)) break;
      first = std::min(first, time);
      last = std::max(last, time);
      at = stride.next(at, header.size);
    }
    newest_ = std::max(newest_, last);
    if (at != begin) addTimes(first, last);
    open_->oldest = std::min(open_->oldest, first);
    open_->stretch.end = at;
    return at;
  }

  void addTimes(uint64_t oldest, uint64_t newest) {
    TimeSpan& span =
        outline_.samples ? *outline_.samples : outline_.samples.emplace(TimeSpan{oldest, newest});
    span.first = std::min(span.first, oldest);
    span.last = std::max(span.last, newest);
  }

  void addOther(const perf_event_header& header, const uint8_t* at) {
    const uint64_t time = times_.timeOf<kOrder>(header, at);
    if (isTime(time)) {
      newest_ = std::max(newest_, time);
      outline_.plain = outline_.plain && time >= delivered_;
    }
    if (!isOther(header.type)) return;
    const auto position = static_cast<uint64_t>(at - bytes_);
    outline_.others.push_back({{isTime(time) ? time : delivered_, position}, at});
  }

  void endRound() {
    open_ = nullptr;
    const uint64_t due = std::exchange(limit_, newest_);
    finish(std::exchange(due_[0], std::move(due_[1])), due);
    due_[1] = {};
  }

  /// A batch with no sample newer than `limit`.
  void finish(Batch&& batch, uint64_t limit) {
    std::ptrdiff_t bytes = 0;
    std::vector<Stretch> stretches;
    for (const Piece& piece : batch) {
      bytes += piece.stretch.end - piece.stretch.at;
      outline_.plain = outline_.plain && piece.oldest >= delivered_;
      stretches.push_back(piece.stretch);
    }
    outline_.plain = outline_.plain && bytes < kLongestBatch;
    delivered_ = limit;
    if (!stretches.empty()) outline_.batches.push_back(std::move(stretches));
  }

  const Recording& recording_;
  const std::function<bool(double)>& progress_;
  SampleLayouts layouts_;
  RecordVisitor nobody_;
  RecordParser times_;
  const uint8_t* const bytes_;
  Outline outline_;
  std::array<Batch, 2> due_;  ///< at the end of this round, and of the next one
  uint64_t newest_ = 0;       ///< of all records so far, ns
  uint64_t limit_ = 0;        ///< what is not newer is due at the end of this round
  uint64_t delivered_ = 0;    ///< the limit of the last finished batch
  Piece* open_ = nullptr;     ///< the piece that the next sample may belong to: the last one of its batch
  bool openIsLate_ = false, compressed_ = false;
};

}  // namespace

std::optional<Outline> outlineOf(const Recording& recording, const SampleLayouts& layouts,
                                 const std::function<bool(double)>& progress) {
  return recording.order == ByteOrder::native ? Walk<ByteOrder::native>(recording, layouts, progress).run()
                                              : Walk<ByteOrder::foreign>(recording, layouts, progress).run();
}

}  // namespace cacheline::perfdata
