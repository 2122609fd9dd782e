// Events, features and build ids out of records. Source of the layouts: perf.data-file-format.txt of the
// Linux kernel's perf.
#include "perfdata/pipe_header.h"

#include <limits>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "perfdata/attr_reader.h"
#include "perfdata/feature_reader.h"
#include "perfdata/record_header.h"

namespace cacheline::perfdata {
namespace {

const char* const kDamagedPipe = "The file is damaged or was cut short; record again.";

std::string textOf(std::span<const uint8_t> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  return bytes.empty() ? std::string() : std::string(text, ::strnlen(text, bytes.size()));
}

/// Names that records give to events, by id or by config; the first of several counts.
class EventNames {
 public:
  /// An EVENT_UPDATE. Units, scales and CPUs of counters say nothing of samples.
  void addUpdate(std::span<const uint8_t> body, ByteOrder order) {
    ByteCursor in(body, order);
    const auto kind = in.take<uint64_t>();
    const auto id = in.take<uint64_t>();
    if (in.ok() && kind == kEventUpdateName) byId_.try_emplace(id, textOf(in.take(in.left())));
  }
  /// A HEADER_EVENT_TYPE, as recorders wrote it until 2013.
  void addType(std::span<const uint8_t> body, ByteOrder order) {
    ByteCursor in(body, order);
    const auto config = in.take<uint64_t>();
    if (in.ok()) byConfig_.try_emplace(config, textOf(in.take(in.left())));
  }
  /// Names the events that have no name yet.
  void apply(std::vector<Event>& events) const {
    for (Event& event : events) {
      for (size_t i = 0; i < event.ids.size() && event.name.empty() && !byId_.empty(); ++i) {
        if (const auto found = byId_.find(event.ids[i]); found != byId_.end()) event.name = found->second;
      }
      if (!event.name.empty()) continue;
      if (const auto found = byConfig_.find(event.attr.config); found != byConfig_.end())
        event.name = found->second;
    }
  }

 private:
  std::unordered_map<uint64_t, std::string> byId_, byConfig_;
};

class StreamReader {
 public:
  StreamReader(std::span<const uint8_t> file, ByteOrder order, const std::string& name)
      : file_(file), order_(order), name_(name) {}

  StreamHeader read(const FileSection& data) {
    const uint64_t end = data.offset + data.size;
    for (uint64_t offset = data.offset; offset < end;) {
      const RecordExtent extent = extentOf(file_.data() + offset, end - offset, order_);
      if (extent.kind != RecordExtent::Kind::whole) break;  // said when the records are read
      apply(extent.header, offset);
      offset += extent.size;
    }
    if (result_.events.empty()) {
      throw Error(ErrorKind::unreadable,
                  name_ + ": holds no events: no record from file offset " + std::to_string(data.offset) +
                      " on is an event attribute",
                  kDamagedPipe);
    }
    names_.apply(result_.events);
    return std::move(result_);
  }

 private:
  void apply(const perf_event_header& head, uint64_t offset) {
    const auto body = file_.subspan(offset + sizeof head, head.size - sizeof head);
    switch (head.type) {
      case kRecordHeaderAttr:
        applyAttr(body, offset);
        break;
      case kRecordHeaderEventType:
        names_.addType(body, order_);
        break;
      case kRecordEventUpdate:
        names_.addUpdate(body, order_);
        break;
      case kRecordHeaderFeature:
        applyFeature(body, offset);
        break;
      case kRecordHeaderBuildId:
        if (!readBuildIds(file_.subspan(offset, head.size), order_, result_.features.buildIds)) {
          warn("the build id at file offset " + std::to_string(offset) + " has only " +
               std::to_string(head.size) + " bytes; it was passed over");
        }
        break;
      default:
        break;
    }
  }

  void applyAttr(std::span<const uint8_t> body, uint64_t offset) {
    const uint32_t size = body.size() < PERF_ATTR_SIZE_VER0 ? 0 : attrSizeOf(body, order_);
    if (size < PERF_ATTR_SIZE_VER0 || size > body.size()) {
      throw Error(ErrorKind::unreadable,
                  name_ + ": the event attribute at file offset " + std::to_string(offset) + " says it has " +
                      std::to_string(size) + " bytes, in a record of " + std::to_string(body.size()),
                  kDamagedPipe);
    }
    if (result_.events.size() == std::numeric_limits<uint16_t>::max()) {
      throw Error(ErrorKind::unreadable,
                  name_ + ": the event attribute at file offset " + std::to_string(offset) +
                      " is one of more than 65535",
                  kDamagedPipe);
    }
    Event event;
    event.attr = readAttr(body.first(size), order_);
    for (size_t at = size; at + sizeof(uint64_t) <= body.size(); at += sizeof(uint64_t)) {
      event.ids.push_back(load<uint64_t>(body.data() + at, order_));
    }
    result_.events.push_back(std::move(event));
  }

  void applyFeature(std::span<const uint8_t> body, uint64_t offset) {
    if (body.size() < sizeof(uint64_t)) return;
    const auto bit = load<uint64_t>(body.data(), order_);
    if (bit >= kFeatureCount) return;
    if (!readFeature(static_cast<uint32_t>(bit), body.subspan(sizeof(uint64_t)), order_, result_.features,
                     result_.events)) {
      warn("header feature " + std::to_string(bit) + " at file offset " + std::to_string(offset) +
           " says it holds more than its " + std::to_string(body.size()) + " bytes; what they hold is used");
    }
  }

  void warn(const std::string& what) { result_.warnings.push_back(name_ + ": " + what); }

  std::span<const uint8_t> file_;
  ByteOrder order_;
  const std::string& name_;
  StreamHeader result_;
  EventNames names_;
};

}  // namespace

StreamHeader readStreamHeader(std::span<const uint8_t> file, const FileSection& data, ByteOrder order,
                              const std::string& name) {
  return StreamReader(file, order, name).read(data);
}

void nameEventsFromRecords(std::span<const uint8_t> file, const FileSection& data, ByteOrder order,
                           std::vector<Event>& events) {
  const uint64_t end = data.offset + data.size;
  EventNames names;
  for (uint64_t offset = data.offset; offset < end;) {
    const RecordExtent extent = extentOf(file.data() + offset, end - offset, order);
    if (extent.kind != RecordExtent::Kind::whole) break;
    const perf_event_header& head = extent.header;
    if (head.type == PERF_RECORD_SAMPLE) break;
    if (head.type == kRecordEventUpdate) {
      names.addUpdate(file.subspan(offset + sizeof head, head.size - sizeof head), order);
    }
    offset += extent.size;
  }
  names.apply(events);
}

}  // namespace cacheline::perfdata
