// The walk over a file of records: by one thread, or by several, each of which walks a part of the file.
#include "perfdata/outline.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/parallel_for.h"
#include "perfdata/record_header.h"
#include "perfdata/record_parser.h"

namespace cacheline::perfdata {

namespace {

/// What one thread reads at a time: some hundred samples.
constexpr std::ptrdiff_t kLongestStretch = 128 << 10;
constexpr std::ptrdiff_t kLongestBatch = 64 << 20;  ///< of what is plain
constexpr std::ptrdiff_t kLeastPart = 4 << 20;      ///< of a file that is worth a thread

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
  Walk(const Recording& recording, const SampleLayouts& layouts)
      : recording_(recording),
        layouts_(layouts),
        times_(layouts_, nobody_),
        bytes_(recording.files.front().bytes.data()),
        at_(bytes_ + recording.files.front().data.offset) {}

  /// Begins behind the end of a round at `from` or behind it, with what the two rounds before it tell of
  /// times: join() finds out whether that holds. False where no rounds end soon.
  bool seek(const uint8_t* from, const uint8_t* end) {
    constexpr std::ptrdiff_t kFarthest = 32 << 20;
    const uint8_t* const stop = from + std::min(kFarthest, end - from);
    at_ = from;
    // Bytes that look like the record may be a part of another one: then nobody joins what is found here.
    const auto isEnd = [](const perf_event_header& header) {
      return header.type == kRecordFinishedRound && header.misc == 0 && header.size == sizeof header;
    };
    while (stop - at_ >= static_cast<std::ptrdiff_t>(sizeof(perf_event_header)) &&
           !isEnd(loadHeader(at_, kOrder)))
      at_ += sizeof(uint64_t);
    for (int rounds = 0; rounds < 3;) {
      if (stop - at_ < static_cast<std::ptrdiff_t>(sizeof(perf_event_header))) return false;
      if (isEnd(loadHeader(at_, kOrder))) ++rounds;
      const uint8_t* const next = walk(at_, at_ + 1, end);
      if (next == at_) return false;
      at_ = next;
    }
    outline_ = {};
    due_ = {};
    begin_ = {at_, newest_, limit_, delivered_};
    keepsFirst_ = true;
    return true;
  }

  const uint8_t* begin() const { return begin_.at; }

  /// Walks to `end`, of the file's records or of a part of them.
  void walkTo(const uint8_t* end, const std::function<bool(double)>& progress) {
    const uint8_t *const start = at_, *const last = bytes_ + recording_.files.front().data.offset +
                                                    recording_.files.front().data.size;
    const std::ptrdiff_t step = (end - at_) / kProgressSteps + 1;
    while (at_ < end) {
      if (progress && !progress(static_cast<double>(at_ - start) / static_cast<double>(end - start)))
        throw Error(ErrorKind::cancelled, "reading " + recording_.name() + " was cancelled");
      const uint8_t* const pause = at_ + std::min(step, end - at_);
      at_ = walk(at_, pause, last);
      if (at_ < pause) break;  // compressed, or not whole: the reading in order tells of it
    }
  }

  /// Adds the walk of the part behind this one. False, with nothing changed, where that part did not begin
  /// where this one ends, or with other times, or where it has anything that a walk in one go should see.
  bool join(Walk& next) {
    if (Begin{at_, newest_, limit_, delivered_} != next.begin_ || !next.outline_.plain || next.compressed_)
      return false;
    append(due_[0], next.first_ ? next.first_->batch : next.due_[0]);
    if (next.first_) {
      finish(std::exchange(due_[0], std::move(next.due_[0])), next.first_->limit);
      outline_.batches.insert(outline_.batches.end(), std::make_move_iterator(next.outline_.batches.begin()),
                              std::make_move_iterator(next.outline_.batches.end()));
    }
    append(due_[1], next.due_[1]);
    append(outline_.others, next.outline_.others);
    if (next.outline_.samples) addTimes(next.outline_.samples->first, next.outline_.samples->last);
    at_ = next.at_;
    newest_ = next.newest_;
    limit_ = next.limit_;
    delivered_ = next.delivered_;
    open_ = nullptr;
    return true;
  }

  /// Of the whole file.
  std::optional<Outline> take() {
    if (compressed_) return std::nullopt;
    // What is left is due now.
    append(due_[0], due_[1]);
    finish(std::move(due_[0]), delivered_);
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
  /// A place behind the end of a round, and the times that count there.
  struct Begin {
    const uint8_t* at = nullptr;
    uint64_t newest = 0, limit = 0, delivered = 0;
    bool operator==(const Begin&) const = default;
  };
  struct Finished {
    Batch batch;
    uint64_t limit = 0;
  };

  template <typename T>
  static void append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
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
        header = extent.header;
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
    if (std::exchange(keepsFirst_, false)) {
      first_ = {std::move(batch), limit};
      delivered_ = limit;
      return;
    }
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
  SampleLayouts layouts_;
  RecordVisitor nobody_;
  RecordParser times_;
  const uint8_t* const bytes_;
  const uint8_t* at_;  ///< where walkTo() goes on: once it is done, before the first record that is not whole
  Outline outline_;
  std::array<Batch, 2> due_;  ///< at the end of this round, and of the next one
  uint64_t newest_ = 0;       ///< of all records so far, ns
  uint64_t limit_ = 0;        ///< what is not newer is due at the end of this round
  uint64_t delivered_ = 0;    ///< the limit of the last finished batch
  Piece* open_ = nullptr;     ///< the piece that the next sample may belong to: the last one of its batch
  bool openIsLate_ = false, compressed_ = false;
  // Of a part behind others:
  Begin begin_;
  bool keepsFirst_ = false;
  std::optional<Finished> first_;  ///< the first batch, to which the part before adds what it has left
};

template <ByteOrder kOrder>
std::optional<Outline> walkAll(const Recording& recording, const SampleLayouts& layouts,
                               const std::function<bool(double)>& progress, unsigned threads) {
  using OfOrder = Walk<kOrder>;
  OfOrder whole(recording, layouts);
  const auto size = static_cast<std::ptrdiff_t>(recording.files.front().data.size);
  const uint8_t* const start = recording.files.front().bytes.data() + recording.files.front().data.offset;
  const uint8_t* const end = start + size;
  const std::ptrdiff_t count = std::min<std::ptrdiff_t>(threads, size / kLeastPart);
  std::vector<std::unique_ptr<OfOrder>> parts;  // behind the first one
  for (std::ptrdiff_t i = 1; i < count; ++i) {
    auto part = std::make_unique<OfOrder>(recording, layouts);
    const uint8_t* const from = start + size / count * i / alignof(uint64_t) * alignof(uint64_t);
    if (part->seek(from, end) && (parts.empty() || part->begin() > parts.back()->begin()))
      parts.push_back(std::move(part));
  }
  parallelFor(parts.size() + 1, threads, [&](size_t i) {
    const uint8_t* const until = i < parts.size() ? parts[i]->begin() : end;
    if (i == 0)
      whole.walkTo(until, progress);
    else
      parts[i - 1]->walkTo(until, {});
  });
  for (const auto& part : parts)
    if (!whole.join(*part)) break;
  whole.walkTo(end, progress);
  return whole.take();
}

}  // namespace

std::optional<Outline> outlineOf(const Recording& recording, const SampleLayouts& layouts,
                                 const std::function<bool(double)>& progress, unsigned threads) {
  return recording.order == ByteOrder::native
             ? walkAll<ByteOrder::native>(recording, layouts, progress, threads)
             : walkAll<ByteOrder::foreign>(recording, layouts, progress, threads);
}

}  // namespace cacheline::perfdata
