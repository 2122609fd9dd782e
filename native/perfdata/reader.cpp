// Reads a perf.data file: header, features, and the records in time order.
#include "perfdata/reader.h"

#include <algorithm>

#include "base/error.h"
#include "base/mapped_file.h"
#include "perfdata/bytes.h"
#include "perfdata/feature_reader.h"
#include "perfdata/file_header.h"
#include "perfdata/format.h"
#include "perfdata/record_parser.h"
#include "perfdata/sample_layout.h"
#include "perfdata/sorter.h"

namespace cacheline::perfdata {
namespace {

constexpr size_t kCountedTypes = 128;
constexpr int kProgressSteps = 100;

SampleLayouts layoutsOf(const FileHeader& header, const std::string& name) {
  try {
    return SampleLayouts(header.events);
  } catch (const Error& error) {
    throw Error(error.kind(), name + ": " + error.what(), error.nextStep());
  }
}

/// Records that could not be delivered: how many, and where the first one is.
struct Casualties {
  uint64_t count = 0, first = 0;
  void add(uint64_t offset) {
    if (count++ == 0) first = offset;
  }
};

}  // namespace

struct Reader::Impl {
  Impl(MappedFile mapping, std::span<const uint8_t> content, std::string path)
      : mapped(std::move(mapping)),
        bytes(content),
        name(std::move(path)),
        header(readFileHeader(bytes, name)),
        layouts(layoutsOf(header, name)),
        features(readFeatures(bytes, name, header)),
        warnings(header.warnings),
        counts(kCountedTypes) {}

  void readAll(RecordVisitor& visitor, const std::function<bool(double)>& progress);
  uint64_t sizeAt(uint64_t offset);
  uint64_t unusualSizeAt(uint64_t offset, uint64_t left);
  void warn(const std::string& what) { warnings.push_back(name + ": " + what); }

  MappedFile mapped;  ///< empty where the bytes belong to the caller
  std::span<const uint8_t> bytes;
  std::string name;
  FileHeader header;
  SampleLayouts layouts;
  Features features;
  std::vector<std::string> warnings;
  std::vector<uint64_t> counts;
};

/// The bytes that the record at `offset` takes in the file; 0, after a warning, where there is no whole
/// record.
inline uint64_t Reader::Impl::sizeAt(uint64_t offset) {
  const uint64_t left = header.data.offset + header.data.size - offset;
  if (left >= sizeof(perf_event_header)) {
    const auto head = load<perf_event_header>(bytes.data() + offset);
    if (head.size >= sizeof head && head.size <= left && head.type != kRecordAuxtrace) return head.size;
  }
  return unusualSizeAt(offset, left);
}

uint64_t Reader::Impl::unusualSizeAt(uint64_t offset, uint64_t left) {
  const auto stop = [&](const std::string& what) {
    warn("the record at file offset " + std::to_string(offset) + " " + what +
         "; nothing from there on was read");
    return 0;
  };
  if (left < sizeof(perf_event_header)) return stop("is cut off after " + std::to_string(left) + " bytes");
  const uint8_t* record = bytes.data() + offset;
  const auto head = load<perf_event_header>(record);
  if (head.size < sizeof head)
    return stop("says it has " + std::to_string(head.size) + " bytes, fewer than its own header");
  if (head.size > left) {
    return stop("says it has " + std::to_string(head.size) + " bytes, but only " + std::to_string(left) +
                " are left");
  }
  if (head.type != kRecordAuxtrace) return head.size;
  // The trace data follows the record; its size is the record's first field.
  if (head.size < sizeof head + sizeof(uint64_t)) return stop("announces trace data without saying how much");
  const auto traceSize = load<uint64_t>(record + sizeof head);
  if (traceSize > left - head.size) {
    return stop("says that " + std::to_string(traceSize) + " bytes of trace data follow, but only " +
                std::to_string(left - head.size) + " are left");
  }
  return head.size + traceSize;
}

void Reader::Impl::readAll(RecordVisitor& visitor, const std::function<bool(double)>& progress) {
  warnings = header.warnings;
  std::fill(counts.begin(), counts.end(), 0);
  RecordParser parser(layouts, visitor);
  Sorter sorter;
  Casualties malformed, unknown;
  const auto deliver = [&](uint64_t offset) {
    switch (parser.deliver(bytes.data() + offset)) {
      case Parsed::delivered:
        break;
      case Parsed::malformed:
        malformed.add(offset);
        break;
      case Parsed::unknownEvent:
        unknown.add(offset);
        break;
    }
  };
  const auto report = [&](double share) {
    if (progress && !progress(share)) throw Error(ErrorKind::cancelled, "reading " + name + " was cancelled");
  };

  const uint64_t end = header.data.offset + header.data.size;
  const uint64_t step = header.data.size / kProgressSteps + 1;
  uint64_t nextReport = header.data.offset + step;
  for (uint64_t offset = header.data.offset, size = 0; offset < end; offset += size) {
    size = sizeAt(offset);
    if (size == 0) break;
    const auto type = load<uint32_t>(bytes.data() + offset);
    ++counts[std::min<size_t>(type, kCountedTypes - 1)];
    if (RecordParser::delivers(type)) {
      const uint64_t time = parser.timeOf(bytes.data() + offset);
      // What has no time was made up by the recorder (the maps of running processes, ...): it holds from here
      // on.
      if (time == 0 || time == ~uint64_t{0}) {
        deliver(offset);
      } else {
        sorter.add(time, offset);
      }
    } else if (type == kRecordFinishedRound) {
      sorter.finishRound(deliver);
    } else if (type == kRecordCompressed || type == kRecordCompressed2) {
      throw Error(ErrorKind::unreadable,
                  name + ": the record at file offset " + std::to_string(offset) +
                      " is compressed, which is not supported",
                  "Record without -z.");
    }
    if (offset >= nextReport) {
      report(static_cast<double>(offset - header.data.offset) / static_cast<double>(header.data.size));
      nextReport = offset + step;
    }
  }
  sorter.finish(deliver);
  report(1);

  if (malformed.count != 0) {
    warn(std::to_string(malformed.count) +
         " records are shorter than what they say they hold, the first one at file offset " +
         std::to_string(malformed.first) + "; they were passed over");
  }
  if (unknown.count != 0) {
    warn(std::to_string(unknown.count) + " samples carry an id of no event, the first one at file offset " +
         std::to_string(unknown.first) + "; they were passed over");
  }
  if (sorter.late() != 0) {
    warn(std::to_string(sorter.late()) +
         " records came later in the file than its rounds allow; they were delivered late");
  }
}

Reader::Reader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reader::~Reader() = default;

std::unique_ptr<Reader> Reader::open(const std::string& path) {
  MappedFile mapped = MappedFile::open(path);
  const auto bytes = mapped.bytes();
  return std::unique_ptr<Reader>(new Reader(std::make_unique<Impl>(std::move(mapped), bytes, path)));
}

std::unique_ptr<Reader> Reader::fromBytes(std::span<const uint8_t> bytes, const std::string& name) {
  return std::unique_ptr<Reader>(new Reader(std::make_unique<Impl>(MappedFile(), bytes, name)));
}

const std::vector<Event>& Reader::events() const {
  return impl_->header.events;
}
const Features& Reader::features() const {
  return impl_->features;
}
const std::vector<std::string>& Reader::warnings() const {
  return impl_->warnings;
}
uint64_t Reader::fileSize() const {
  return impl_->bytes.size();
}
const std::vector<uint64_t>& Reader::recordCounts() const {
  return impl_->counts;
}

void Reader::readAll(RecordVisitor& visitor, const std::function<bool(double)>& progress) {
  impl_->readAll(visitor, progress);
}

}  // namespace cacheline::perfdata
