// One reading of all records of a recording.
#include "perfdata/record_pass.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "perfdata/format.h"
#include "perfdata/record_header.h"

namespace cacheline::perfdata {
namespace {

/// Records that wait for the visitor's thread at a time.
constexpr size_t kBlock = 2048;
constexpr size_t kPrefetchRecords = 8;
constexpr size_t kCacheLine = 64;
/// Of each file of a directory, before the next one's turn.
constexpr std::ptrdiff_t kDirectoryBlock = 4 << 20;
/// What may wait decompressed: this much anyway, and this many times the file.
constexpr uint64_t kHeldAnyway = 64 << 20, kHeldTimesFile = 8;

/// What is read of most records lies in its first lines; the header has been read.
void prefetchRecord(const uint8_t* at) {
  __builtin_prefetch(at + kCacheLine);
  __builtin_prefetch(at + 2 * kCacheLine);
}

}  // namespace

RecordPass::RecordPass(const Recording& recording, SampleLayouts& layouts, RecordVisitor& visitor,
                       const std::function<bool(double)>& progress, PassOptions options)
    : recording_(recording),
      layouts_(layouts),
      parser_(layouts, visitor),
      times_(layouts_, visitor),
      progress_(progress),
      samples_(options.samples),
      heldLimit_(std::max(kHeldAnyway, kHeldTimesFile * recording.bytes())),
      ahead_(options.threads > 1 && !recording.directory),
      queue_(options.threads, JobQueue<Block>::Behind::wait, [this](unsigned, Block& block) {
        for (size_t i = 0; i < block.size(); ++i) {
          if (i + kPrefetchRecords < block.size()) prefetchRecord(block[i + kPrefetchRecords].at);
          if (recording_.order == ByteOrder::native)
            deliverNow<ByteOrder::native>(block[i]);
          else
            deliverNow<ByteOrder::foreign>(block[i]);
        }
      }) {
  result_.counts.resize(kCountedTypes);
  for (const RecordFile& file : recording.files) {
    Input input;
    input.file = &file;
    input.at = file.bytes.data() + file.data.offset;
    input.end = input.at + file.data.size;
    inputs_.push_back(std::move(input));
  }
}

RecordPass::Result RecordPass::run() {
  if (recording_.order == ByteOrder::native) {
    runIn<ByteOrder::native>();
  } else {
    runIn<ByteOrder::foreign>();
  }
  report(1);
  warnOfParseErrors();
  return std::move(result_);
}

template <ByteOrder kOrder>
void RecordPass::runIn() {
  readAll<kOrder>(inputs_.front());
  if (recording_.directory) readDirectory<kOrder>();
  deliverUpTo<kOrder>(~uint64_t{0});
  drain();
}

template <ByteOrder kOrder>
void RecordPass::readAll(Input& input) {
  const std::ptrdiff_t step = (input.end - input.at) / kProgressSteps + 1;
  while (!input.ended) {
    readUpTo<kOrder>(input, input.at + std::min(step, input.end - input.at));
    if (!input.ended) report(shareRead());
  }
}

/// In directory format every recording thread has a file, in time order by itself unless the thread emptied
/// the buffers of several CPUs; there are no rounds. The files are read side by side: all up to the time that
/// every file has reached can be delivered.
template <ByteOrder kOrder>
void RecordPass::readDirectory() {
  double reported = 0;
  for (bool more = true; more;) {
    more = false;
    uint64_t limit = ~uint64_t{0};
    for (Input& input : inputs_) {
      if (input.ended) continue;
      readUpTo<kOrder>(input, input.at + std::min(kDirectoryBlock, input.end - input.at));
      if (input.ended) continue;
      more = true;
      limit = std::min(limit, input.ascending ? input.newest : 0);
    }
    if (more && limit != 0) deliverUpTo<kOrder>(limit);
    if (shareRead() < reported + 1.0 / kProgressSteps) continue;
    reported = shareRead();
    report(reported);
  }
}

/// Reads records until one starts at `pause` or behind it. At the end of the input, or where a record is not
/// whole, the input has ended.
template <ByteOrder kOrder>
void RecordPass::readUpTo(Input& input, const uint8_t* pause) {
  input_ = &input;
  sorter_.beginStretch(input.newest);
  input.at = walk<kOrder>(input.at, pause, input.end);
  endStretch(input);
  if (stopped_) {
    endInput(input, extentOf(input.at, static_cast<uint64_t>(input.end - input.at), kOrder));
  } else if (input.at >= input.end) {
    endInput(input, {});
  }
}

template <ByteOrder kOrder>
const uint8_t* RecordPass::walk(const uint8_t* at, const uint8_t* pause, const uint8_t* end) {
  stopped_ = false;
  uint64_t* const counts = result_.counts.data();
  while (at < pause) {
    // Each record says where the next one is: without a hint every page starts with a wait.
    __builtin_prefetch(at + kPrefetchBytes);
    const auto left = static_cast<uint64_t>(end - at);
    perf_event_header header{};
    if (left >= sizeof header) header = loadHeader(at, kOrder);
    const uint8_t* next = at + header.size;
    if (header.size < sizeof header || header.size > left || hasTail(header.type)) [[unlikely]] {
      const RecordExtent extent = extentOf(at, left, kOrder);
      if (extent.kind != RecordExtent::Kind::whole) {
        stopped_ = true;
        return at;
      }
      header = extent.header;
      next = at + extent.size;
    }
    ++counts[std::min<size_t>(header.type, kCountedTypes - 1)];
    if (RecordParser::delivers(header.type)) {
      const uint64_t time = times_.timeOf<kOrder>(header, at);
      if (!isWanted(header)) {
        if (isTime(time)) sorter_.skip(time);
      } else if (isTime(time)) {
        sorter_.add(time, at, next);
      } else {
        deliver<kOrder>(at, next);
      }
    } else {
      special<kOrder>(header, at, next);
    }
    at = next;
  }
  return at;
}

/// A record that the visitor does not hear of in time order.
template <ByteOrder kOrder>
void RecordPass::special(const perf_event_header& header, const uint8_t* at, const uint8_t* next) {
  switch (header.type) {
    case kRecordFinishedRound:
      if (!nested_) roundEnd_ = next;
      if (!recording_.directory) deliverUpTo<kOrder>(sorter_.endRound());
      break;
    case kRecordCompressed:
    case kRecordCompressed2:
      if (nested_) {
        count(nestedRecords_, at);
      } else {
        decompress<kOrder>(header, at);
      }
      break;
    case kRecordAuxtraceInfo:
    case kRecordAuxtrace:
    case kRecordTimeConv:
      drain();
      if (parser_.deliverTimeless(header, at, next, !nested_) != Parsed::delivered) count(malformed_, at);
      break;
    default:
      break;
  }
  if (hasTail(header.type)) sorter_.breakRun();
}

/// Walks over what a compressed record holds.
template <ByteOrder kOrder>
void RecordPass::decompress(const perf_event_header& header, const uint8_t* at) {
  if (ahead_) {  // decompressed bytes go when their time is over
    drain();
    ahead_ = false;
  }
  Input& input = *input_;
  Decompressor& decompressor = input.decompressor;
  std::span<const uint8_t> content(at + sizeof header, header.size - sizeof header);
  if (header.type == kRecordCompressed2) {  // the size without padding comes first
    const uint64_t size = content.size() < 8 ? ~uint64_t{0} : load<uint64_t>(content.data(), kOrder);
    if (content.size() < 8 || size > content.size() - 8) return count(malformed_, at);
    content = content.subspan(8, size);
  }
  endStretch(input);
  decompressor.feed(content, static_cast<uint64_t>(at - input.file->bytes.data()));
  nested_ = true;
  for (auto bytes = decompressor.next(); !bytes.empty(); bytes = decompressor.next()) {
    const uint8_t* const end = bytes.data() + bytes.size();
    sorter_.beginStretch(input.newest);
    const uint8_t* const stop = walk<kOrder>(bytes.data(), end, end);
    endStretch(input);
    decompressor.take(static_cast<size_t>(stop - bytes.data()), input.newest);
    if (stopped_) {
      const RecordExtent extent = extentOf(stop, static_cast<uint64_t>(end - stop), kOrder);
      if (extent.kind == RecordExtent::Kind::damaged) decompressor.fail("a record in them " + extent.problem);
    }
    deliverEarlyWhereTooMuchWaits<kOrder>();
  }
  nested_ = stopped_ = false;
  sorter_.beginStretch(input.newest);
}

/// The first record to be ordered behind the one at `at`, in a run that ends at `end`.
template <ByteOrder kOrder>
Sorter::Position RecordPass::advance(const uint8_t* at, const uint8_t* end) {
  for (at += loadHeaderAgain(at, end, kOrder).size; at != end;) {
    const perf_event_header header = loadHeaderAgain(at, end, kOrder);
    if (RecordParser::delivers(header.type) && isWanted(header)) {
      // Its turn comes when all other runs had theirs: time to fetch it, and the next one's header.
      if (!ahead_) prefetchRecord(at);
      const uint64_t time = times_.timeOf<kOrder>(header, at);
      if (isTime(time)) return {time, at};
    }
    at += header.size;
  }
  return {0, end};
}

/// Lets a record have its turn.
template <ByteOrder kOrder>
void RecordPass::deliver(const uint8_t* at, const uint8_t* end) {
  if (!ahead_) return deliverNow<kOrder>({at, end, limit_});
  block_.push_back({at, end, limit_});
  if (block_.size() < kBlock) [[likely]]
    return;
  queue_.put(std::exchange(block_, {}));
  block_.reserve(kBlock);
}

template <ByteOrder kOrder>
void RecordPass::deliverNow(const Turn& turn) {
  const Parsed parsed = parser_.deliver<kOrder>(turn.at, turn.end, {turn.limit, positionOf(turn.at)});
  if (parsed == Parsed::delivered) [[likely]]
    return;
  (parsed == Parsed::malformed ? malformedRecords_ : unknownEvents_).add(turn.at);
}

/// After it the visitor has had all that was delivered.
void RecordPass::drain() {
  if (!block_.empty()) queue_.put(std::exchange(block_, {}));
  queue_.finish();
  const auto keep = [this](Failures& failures, ParseErrors& parseErrors) {
    if (failures.count == 0) return;
    if (parseErrors.count == 0) parseErrors.first = placeOf(failures.first);
    parseErrors.count += std::exchange(failures.count, 0);
  };
  keep(malformedRecords_, result_.undelivered.malformed);
  keep(unknownEvents_, result_.undelivered.unknown);
}

template <ByteOrder kOrder>
void RecordPass::deliverUpTo(uint64_t limit) {
  sorter_.deliverUpTo(
      limit, [this](const uint8_t* record, const uint8_t* end) { deliver<kOrder>(record, end); },
      [this](const uint8_t* from, const uint8_t* end) { return advance<kOrder>(from, end); });
  if (limit != ~uint64_t{0}) limit_ = std::max(limit_, limit);
  if (!ahead_) {  // what is released can be nobody's place
    drain();
    for (Input& input : inputs_) input.decompressor.release(limit);
  }
}

template <ByteOrder kOrder>
void RecordPass::deliverEarlyWhereTooMuchWaits() {
  const auto held = [&] {
    uint64_t sum = 0;
    for (const Input& input : inputs_) sum += input.decompressor.held();
    return sum;
  };
  if (held() <= heldLimit_) return;
  deliverUpTo<kOrder>(~uint64_t{0});
  if (held() > heldLimit_) {
    input_->decompressor.fail("a record in them takes more than " + std::to_string(heldLimit_) + " bytes");
  } else {
    early_ = true;
  }
}

void RecordPass::endStretch(Input& input) {
  input.newest = sorter_.stretchNewest();
  if (sorter_.stretchDescends()) input.ascending = false;
}

/// `rest`: what is not a whole record, at input.at.
void RecordPass::endInput(Input& input, const RecordExtent& rest) {
  input.ended = true;
  if (rest.kind != RecordExtent::Kind::whole) {
    warn("the record at " + placeOf(input.at) + " " + rest.problem + "; nothing from there on was read");
  } else if (recording_.pipe && roundEnd_ == nullptr) {
    warn(
        "was written to a pipe and ends without the end of a round: it was cut short, or recorded by a perf "
        "so "
        "old that it does not mark where it ends");
  } else if (recording_.pipe && !endsWithRound(input)) {
    warn("the stream ends, at file offset " + std::to_string(input.file->bytes.size()) +
         ", within a round: it was cut short");
  }
  const Decompressor& decompressor = input.decompressor;
  const std::string where = std::to_string(decompressor.where());
  if (!decompressor.failure().empty()) {
    warn("the compressed records cannot be read on from file offset " + where +
         " on: " + decompressor.failure());
  } else if (decompressor.untaken() != 0) {
    warn("the last compressed record, at file offset " + where + ", ends inside a record, after " +
         std::to_string(decompressor.untaken()) + " bytes of it");
  }
}

/// Whether what stands behind the last end of a round is only what a recorder adds when it has read all
/// buffers. A stream does not say how long it is: this is the only sign of its end.
bool RecordPass::endsWithRound(const Input& input) const {
  const uint8_t* at = roundEnd_;
  while (at < input.at) {
    const RecordExtent extent = extentOf(at, static_cast<uint64_t>(input.at - at), recording_.order);
    if (extent.kind != RecordExtent::Kind::whole) throw RecordChanged();
    const uint32_t type = extent.header.type;
    const bool added =
        type == PERF_RECORD_LOST_SAMPLES || (type >= kRecordHeaderAttr && type != kRecordCompressed &&
                                             type != kRecordCompressed2 && type != kRecordAuxtrace);
    if (!added) return false;
    at += extent.size;
  }
  return true;
}

double RecordPass::shareRead() const {
  uint64_t read = 0, all = 0;
  for (const Input& input : inputs_) {
    const uint64_t left = input.ended ? 0 : static_cast<uint64_t>(input.end - input.at);
    read += input.file->data.size - left;
    all += input.file->data.size;
  }
  return all == 0 ? 1 : static_cast<double>(read) / static_cast<double>(all);
}

void RecordPass::report(double share) {
  if (progress_ && !progress_(share))
    throw Error(ErrorKind::cancelled, "reading " + recording_.name() + " was cancelled");
}

void RecordPass::count(ParseErrors& parseErrors, const uint8_t* at) {
  if (parseErrors.count++ == 0) parseErrors.first = placeOf(at);
}

/// As Moment::position.
uint64_t RecordPass::positionOf(const uint8_t* at) const {
  const RecordFile& file = *inputs_.front().file;
  const uint64_t offset = reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(file.bytes.data());
  return recording_.directory || offset >= file.bytes.size() ? Moment::kNowhere : offset;
}

/// "file offset 120", for a sentence.
std::string RecordPass::placeOf(const uint8_t* at) const {
  for (const Input& input : inputs_) {
    const std::string of = &input == &inputs_.front() ? "" : " of " + input.file->name;
    const uint64_t origin = input.decompressor.originOf(at);
    if (origin != ~uint64_t{0})
      return "file offset " + std::to_string(origin) + of + " (in the compressed record there)";
    const uint8_t* const start = input.file->bytes.data();
    const auto offset =
        static_cast<uint64_t>(reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(start));
    if (offset < input.file->bytes.size() || at == input.end)
      return "file offset " + std::to_string(offset) + of;
  }
  return "an unknown place";
}

void RecordPass::warn(const std::string& what) {
  const std::string& name = input_ == nullptr ? recording_.name() : input_->file->name;
  result_.warnings.push_back(name + ": " + what);
}

void RecordPass::warnOfParseErrors() {
  input_ = nullptr;
  const auto say = [&](const ParseErrors& parseErrors, const std::string& what) {
    if (parseErrors.count == 0) return;
    warn(std::to_string(parseErrors.count) + " " + what + ", the first one at " + parseErrors.first +
         "; they were passed over");
  };
  ParseErrors malformed = result_.undelivered.malformed;
  if (malformed.count == 0) malformed.first = malformed_.first;
  malformed.count += malformed_.count;
  say(malformed, "records are shorter than what they say they hold");
  say(result_.undelivered.unknown, "samples carry an id that belongs to no event");
  say(nestedRecords_, "compressed records lie inside compressed records");
  if (early_) {
    warn("a round takes more than " + std::to_string(heldLimit_) +
         " bytes decompressed: it was delivered before its end");
  }
  if (sorter_.late() != 0) {
    warn(std::to_string(sorter_.late()) +
         " records came later in the file than its rounds allow; they were delivered late");
  }
}

}  // namespace cacheline::perfdata
