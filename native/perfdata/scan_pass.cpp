// One reading of all records in which samples come in no order.
#include "perfdata/scan_pass.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "perfdata/record_header.h"
#include "perfdata/sorter.h"

namespace cacheline::perfdata {

namespace {

template <ByteOrder kOrder>
std::optional<uint64_t> oldestSampleIn(const RecordFile& file, SampleLayouts& layouts) {
  const uint8_t* at = file.bytes.data() + file.data.offset;
  const uint8_t* const end = at + file.data.size;
  std::optional<uint64_t> oldest;
  while (at < end) {
    __builtin_prefetch(at + kPrefetchBytes);
    const auto left = static_cast<uint64_t>(end - at);
    perf_event_header header{};
    if (left >= sizeof header) header = loadHeader(at, kOrder);
    uint64_t size = header.size;
    if (header.size < sizeof header || header.size > left || hasTail(header.type)) [[unlikely]] {
      const RecordExtent extent = extentOf(at, left, kOrder);
      if (extent.kind != RecordExtent::Kind::whole) break;
      size = extent.size;
    }
    if (header.type == PERF_RECORD_SAMPLE) {
      const uint64_t time = layouts.sampleTime<kOrder>(at + sizeof header, at + header.size);
      if (isTime(time)) oldest = std::min(oldest.value_or(time), time);
    } else if (header.type == kRecordCompressed || header.type == kRecordCompressed2) {
      return std::nullopt;
    }
    at += size;
  }
  return oldest;
}

}  // namespace

std::optional<uint64_t> oldestSample(const Recording& recording, SampleLayouts layouts) {
  if (recording.directory) return std::nullopt;
  const RecordFile& file = recording.files.front();
  return recording.order == ByteOrder::native ? oldestSampleIn<ByteOrder::native>(file, layouts)
                                              : oldestSampleIn<ByteOrder::foreign>(file, layouts);
}

ScanPass::ScanPass(const Recording& recording, const SampleLayouts& layouts, RecordVisitor& others,
                   std::span<AccessVisitor* const> workers, const std::function<bool(double)>& progress,
                   const AddressFilter* filter)
    : recording_(recording),
      progress_(progress),
      layouts_(layouts),
      others_(layouts_, others),
      visitor_(others),
      jobs_(static_cast<unsigned>(workers.size()), JobQueue<Job>::Behind::help,
            [this](unsigned worker, Job& job) {
              for (const Stretch& stretch : job)
                workers_[worker]->visitor.onAccesses(workers_[worker]->reader, stretch);
            }) {
  for (AccessVisitor* const visitor : workers)
    workers_.push_back(
        std::make_unique<Worker>(layouts, recording.files.front().bytes.data(), filter, *visitor));
}

Scanned ScanPass::run() {
  if (recording_.directory) return Scanned::partly;
  const Scanned scanned =
      recording_.order == ByteOrder::native ? runIn<ByteOrder::native>() : runIn<ByteOrder::foreign>();
  finishJobs();
  if (scanned == Scanned::partly) return scanned;
  tellOrdered();
  const Undelivered failed = undelivered();
  const bool plain = plain_ && !recording_.pipe && failed.malformed.count + failed.unknown.count == 0;
  return plain ? Scanned::plainly : Scanned::wholly;
}

void ScanPass::report(double share) const {
  if (progress_ && !progress_(share))
    throw Error(ErrorKind::cancelled, "reading " + recording_.name() + " was cancelled");
}

/// Waking a thread takes as long as reading some kilobytes: a job is more than that.
void ScanPass::put(const Stretch& stretch) {
  job_.push_back(stretch);
  jobBytes_ += stretch.end - stretch.at;
  if (jobBytes_ < kStretch) return;
  jobs_.put(std::exchange(job_, {}));
  jobBytes_ = 0;
}

void ScanPass::finishJobs() {
  if (!job_.empty()) jobs_.put(std::exchange(job_, {}));
  jobBytes_ = 0;
  jobs_.finish();
}

template <ByteOrder kOrder>
Scanned ScanPass::runIn() {
  const RecordFile& file = recording_.files.front();
  const uint8_t* at = file.bytes.data() + file.data.offset;
  const uint8_t *const start = at, *const end = at + file.data.size;
  const std::ptrdiff_t step = (end - at) / kProgressSteps + 1;
  const uint8_t* reportAt = at + std::min(step, end - at);
  while (at < end && !enough_) {
    if (at >= reportAt) {
      report(static_cast<double>(at - start) / static_cast<double>(end - start));
      reportAt = at + std::min(step, end - at);
    }
    __builtin_prefetch(at + kPrefetchBytes);
    const auto left = static_cast<uint64_t>(end - at);
    perf_event_header header{};
    if (left >= sizeof header) header = loadHeader(at, kOrder);
    const uint8_t* next = at + header.size;
    if (header.size < sizeof header || header.size > left || hasTail(header.type)) [[unlikely]] {
      plain_ = false;
      const RecordExtent extent = extentOf(at, left, kOrder);
      if (extent.kind != RecordExtent::Kind::whole) break;  // the ordered pass tells of it
      next = at + extent.size;
      open_ = nullptr;
    }
    if (header.type == PERF_RECORD_SAMPLE) {
      beginPiece(layouts_.sampleTime<kOrder>(at + sizeof header, next), at, next);
      if (open_ != nullptr) next = extendPiece<kOrder>(next, reportAt, end);
    } else if (RecordParser::delivers(header.type)) {
      addOther<kOrder>(header, at);
    } else if (header.type == kRecordFinishedRound) {
      endRound();
    } else if (header.type == kRecordCompressed || header.type == kRecordCompressed2) {
      return Scanned::partly;
    }
    at = next;
  }
  if (enough_) return Scanned::partly;
  // What is left is due now.
  open_ = nullptr;
  Batch rest = std::move(due_[0]);
  rest.pieces.insert(rest.pieces.end(), due_[1].pieces.begin(), due_[1].pieces.end());
  rest.others.insert(rest.others.end(), due_[1].others.begin(), due_[1].others.end());
  check(rest, delivered_);
  deliver(std::move(rest));
  return Scanned::wholly;
}

void ScanPass::beginPiece(uint64_t time, const uint8_t* at, const uint8_t* next) {
  if (!isTime(time)) {
    open_ = nullptr;
    plain_ = false;
    return put({at, next});
  }
  openIsLate_ = time > limit_;
  std::vector<Piece>& pieces = due_[openIsLate_ ? 1 : 0].pieces;
  open_ = &pieces.emplace_back(Piece{{at, next}, time, time});
}

/// Adds the samples from `at` to the open piece that can go on with it: nearly all do. The record behind
/// them.
template <ByteOrder kOrder>
const uint8_t* ScanPass::extendPiece(const uint8_t* at, const uint8_t* pause, const uint8_t* end) {
  constexpr std::ptrdiff_t kLargestRecord = 1 << 16;
  const uint32_t timeAt = layouts_.timeOffset();
  if (timeAt == SampleLayout::kNone || end - at < kLargestRecord) return at;
  const uint8_t* const stop = std::min({pause, end - kLargestRecord, open_->stretch.at + kStretch});
  const size_t smallest = sizeof(perf_event_header) + timeAt + 8;
  Piece piece = *open_;
  Stride stride;
  while (at < stop) {
    // Each record says where the next one is: without a hint every page starts with a wait.
    __builtin_prefetch(at + kPrefetchBytes);
    const perf_event_header header = loadHeader(at, kOrder);
    if (header.type != PERF_RECORD_SAMPLE || header.size < smallest) break;
    const uint64_t time = load<uint64_t>(at + sizeof header + timeAt, kOrder);
    if ((time > limit_) != openIsLate_ || !isTime(time)) break;
    piece.oldest = std::min(piece.oldest, time);
    piece.newest = std::max(piece.newest, time);
    at = stride.next(at, header.size);
  }
  piece.stretch.end = at;
  *open_ = piece;
  return at;
}

template <ByteOrder kOrder>
void ScanPass::addOther(const perf_event_header& header, const uint8_t* at) {
  const uint64_t time = others_.timeOf<kOrder>(header, at);
  open_ = nullptr;
  const Other other{time, {at, at + header.size}};
  if (isTime(time)) {
    due_[time > limit_ ? 1 : 0].others.push_back(other);
  } else {
    deliver({{}, {other}});
  }
}

void ScanPass::endRound() {
  open_ = nullptr;
  const uint64_t due = limit_;
  for (const Batch& batch : due_) {
    for (const Piece& piece : batch.pieces) limit_ = std::max(limit_, piece.newest);
    for (const Other& other : batch.others) limit_ = std::max(limit_, other.time);
  }
  check(due_[0], due);
  deliver(std::exchange(due_[0], std::move(due_[1])));
  due_[1] = {};
}

/// A batch that is about to be delivered, none of it newer than `limit`.
void ScanPass::check(const Batch& batch, uint64_t limit) {
  std::ptrdiff_t bytes = 0;
  for (const Piece& piece : batch.pieces) {
    bytes += piece.stretch.end - piece.stretch.at;
    plain_ = plain_ && piece.oldest >= delivered_;
  }
  for (const Other& other : batch.others) plain_ = plain_ && other.time >= delivered_;
  plain_ = plain_ && bytes < kLongestRound;
  delivered_ = limit;
}

void ScanPass::deliver(Batch&& batch) {
  for (const Piece& piece : batch.pieces) unordered_ += piece.stretch.end - piece.stretch.at;
  deliverPieces(std::move(batch));
  if (unordered_ < kOrdered) return;
  finishJobs();
  tellOrdered();
  unordered_ = 0;
}

void ScanPass::tellOrdered() {
  if (!visitor_.onOrdered()) enough_ = true;
}

void ScanPass::deliverPieces(Batch&& batch) {
  std::vector<Other>& others = batch.others;
  if (others.empty()) {
    for (const Piece& piece : batch.pieces) put(piece.stretch);
    return;
  }
  std::stable_sort(others.begin(), others.end(),
                   [](const Other& a, const Other& b) { return a.time < b.time; });
  uint64_t oldest = ~uint64_t{0}, newest = 0;
  for (const Piece& piece : batch.pieces) {
    oldest = std::min(oldest, piece.oldest);
    newest = std::max(newest, piece.newest);
  }
  // Records in front of all samples, among them, behind them.
  const auto among = std::partition_point(others.begin(), others.end(),
                                          [oldest](const Other& other) { return other.time < oldest; });
  const auto behind = std::partition_point(among, others.end(),
                                           [newest](const Other& other) { return other.time <= newest; });
  finishJobs();
  deliverOthers({others.begin(), among});
  if (among == behind) {
    for (const Piece& piece : batch.pieces) put(piece.stretch);
  } else {
    // Only pieces that lie across one of them need an order.
    const uint64_t first = among->time, last = std::prev(behind)->time;
    std::vector<Stretch> across;
    for (const Piece& piece : batch.pieces) {
      if (piece.newest < first)
        put(piece.stretch);
      else if (piece.oldest <= last)
        across.push_back(piece.stretch);
    }
    for (auto other = among; other != behind; ++other) across.push_back(other->stretch);
    finishJobs();
    if (recording_.order == ByteOrder::native)
      deliverOrdered<ByteOrder::native>(std::move(across));
    else
      deliverOrdered<ByteOrder::foreign>(std::move(across));
    for (const Piece& piece : batch.pieces)
      if (piece.newest >= first && piece.oldest > last) put(piece.stretch);
  }
  if (behind == others.end()) return;
  finishJobs();
  deliverOthers({behind, others.end()});
}

template <ByteOrder kOrder>
void ScanPass::deliverOrdered(std::vector<Stretch>&& stretches) {
  // Records of equal time come in the order of the file.
  std::sort(stretches.begin(), stretches.end(),
            [](const Stretch& a, const Stretch& b) { return a.at < b.at; });
  // What was cut at other records goes together again: a run a CPU.
  size_t joined = 0;
  for (size_t i = 1; i < stretches.size(); ++i) {
    if (stretches[i].at == stretches[joined].end)
      stretches[joined].end = stretches[i].end;
    else
      stretches[++joined] = stretches[i];
  }
  if (!stretches.empty()) stretches.resize(joined + 1);
  Worker& worker = *workers_.front();
  Sorter sorter;
  const auto positionFrom = [&](const uint8_t* at, const uint8_t* end) -> Sorter::Position {
    for (; at != end; at += loadHeader(at, kOrder).size) {
      const perf_event_header header = loadHeader(at, kOrder);
      if (RecordParser::delivers(header.type)) return {others_.timeOf<kOrder>(header, at), at};
    }
    return {0, end};
  };
  const auto behind = [](const uint8_t* at) { return at + loadHeader(at, kOrder).size; };
  for (const Stretch& stretch : stretches) {
    sorter.beginStretch();
    for (auto next = positionFrom(stretch.at, stretch.end); next.at != stretch.end;
         next = positionFrom(behind(next.at), stretch.end))
      sorter.add(next.time, next.at, behind(next.at));
  }
  sorter.deliverUpTo(
      ~uint64_t{0},
      [&](const uint8_t* at) {
        const perf_event_header header = loadHeader(at, kOrder);
        if (header.type == PERF_RECORD_SAMPLE)
          worker.visitor.onAccesses(worker.reader, {at, at + header.size});
        else
          deliverOther<kOrder>(at);
      },
      [&](const uint8_t* at, const uint8_t* end) { return positionFrom(behind(at), end); });
}

void ScanPass::deliverOthers(std::span<const Other> others) {
  for (const Other& other : others) {
    if (recording_.order == ByteOrder::native)
      deliverOther<ByteOrder::native>(other.stretch.at);
    else
      deliverOther<ByteOrder::foreign>(other.stretch.at);
  }
}

template <ByteOrder kOrder>
void ScanPass::deliverOther(const uint8_t* at) {
  if (others_.deliver<kOrder>(at) == Parsed::malformed) malformedOthers_.add(at);
}

Undelivered ScanPass::undelivered() const {
  return {casualties(malformedOthers_, &AccessReader::malformed), casualties({}, &AccessReader::unknown)};
}

Casualties ScanPass::casualties(Failures all, Failures AccessReader::*which) const {
  for (const auto& worker : workers_) {
    const Failures& some = worker->reader.*which;
    if (some.count == 0) continue;
    all.first = all.count == 0 ? some.first : std::min(all.first, some.first);
    all.count += some.count;
  }
  if (all.count == 0) return {};
  return {all.count, "file offset " + std::to_string(all.first - recording_.files.front().bytes.data())};
}

}  // namespace cacheline::perfdata
