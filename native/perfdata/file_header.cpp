// The header of a perf.data: byte order, mode, events with their ids, and where data and features are.
#include "perfdata/file_header.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/error.h"
#include "perfdata/attr_reader.h"

namespace cacheline::perfdata {
namespace {

const char* const kDamaged = "The file is damaged or was cut short; record again.";

class HeaderReader {
 public:
  HeaderReader(std::span<const uint8_t> file, const std::string& name) : file_(file), name_(name) {}

  FileHeader read() {
    readHeaderBytes();
    if (result_.pipe) {
      result_.data = {kPipeHeaderSize, file_.size() - kPipeHeaderSize};
      return std::move(result_);
    }
    readAttributes();
    placeData();
    placeFeatures();
    return std::move(result_);
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& nextStep) const {
    throw Error(ErrorKind::unreadable, name_ + ": " + what, nextStep);
  }
  /// `what` is a verb, and the file its subject.
  [[noreturn]] void failAsWhole(const std::string& what, const std::string& nextStep) const {
    throw Error(ErrorKind::unreadable, name_ + " " + what, nextStep);
  }
  bool inside(const FileSection& section) const {
    return section.offset <= file_.size() && section.size <= file_.size() - section.offset;
  }
  std::string describe(const FileSection& section) const {
    return std::to_string(section.size) + " bytes at file offset " + std::to_string(section.offset) +
           ", but the file has " + std::to_string(file_.size()) + " bytes";
  }

  void readHeaderBytes() {
    if (file_.size() < 16)
      failAsWhole("is not a perf.data file: it has only " + std::to_string(file_.size()) + " bytes",
                  kDamaged);
    const auto magic = load<uint64_t>(file_.data());
    if (magic == kMagicVersion1 || magic == swapBytes(kMagicVersion1)) {
      failAsWhole("is in the first perf.data format (PERFFILE, before 2012), which cannot be read",
                  "Record it again with a newer perf.");
    }
    if (magic != kMagic && magic != swapBytes(kMagic)) {
      failAsWhole("is not a perf.data file: it starts with " + hexNumber(magic) + ", not with PERFILE2",
                  "Name a perf.data file or a recording folder.");
    }
    if (magic != kMagic) result_.order = ByteOrder::foreign;
    const uint64_t size = number(8);
    if (size == kPipeHeaderSize) {
      result_.pipe = true;
      return;
    }
    if ((size != kHeaderSizeWithoutFeatures && size < sizeof header_) || size > file_.size()) {
      fail("the header at file offset 0 says it has " + std::to_string(size) + " bytes, of " +
               std::to_string(file_.size()) + " in the file",
           kDamaged);
    }
    header_.size = size;
    header_.attrSize = number(16);
    header_.attrs = sectionAt(24);
    header_.data = sectionAt(40);
    if (size >= sizeof header_) readFeatureBits();
  }

  uint64_t number(uint64_t offset) const { return load<uint64_t>(file_.data() + offset, result_.order); }
  FileSection sectionAt(uint64_t offset) const { return {number(offset), number(offset + 8)}; }

  /// The bits are an array of `long`: where bit n of the other byte order stands depends on that machine's
  /// word size, which no field tells. Every perf since 2010 sets the host name's bit.
  void readFeatureBits() {
    constexpr uint64_t kBitsOffset = offsetof(FileHeaderBytes, features);
    for (size_t i = 0; i < 4; ++i) header_.features[i] = number(kBitsOffset + 8 * i);
    const uint64_t hostname = uint64_t{1} << kFeatureHostname;
    if (result_.order == ByteOrder::native || (header_.features[0] & hostname) != 0) return;
    if ((header_.features[0] >> 32 & hostname) == 0) return;
    for (uint64_t& bits : header_.features) bits = bits << 32 | bits >> 32;
  }

  bool hasFeature(uint32_t bit) const { return ((header_.features[bit / 64] >> (bit % 64)) & 1) != 0; }

  void readAttributes() {
    if (header_.attrSize < PERF_ATTR_SIZE_VER0 + sizeof(FileSection) || header_.attrSize > file_.size()) {
      fail("the header at file offset 16 says that an event attribute takes " +
               std::to_string(header_.attrSize) + " bytes",
           kDamaged);
    }
    if (!inside(header_.attrs) || header_.attrs.offset < header_.size) {
      fail("the event attributes take " + describe(header_.attrs), kDamaged);
    }
    const uint64_t count = header_.attrs.size / header_.attrSize;
    if (count == 0) failAsWhole("holds no events", kDamaged);
    if (count > std::numeric_limits<uint16_t>::max()) {
      fail("the header at file offset 24 says there are " + std::to_string(count) +
               " events; at most 65535 can be read",
           kDamaged);
    }
    uint64_t idBytes = 0;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t offset = header_.attrs.offset + i * header_.attrSize;
      Event event = readAttribute(offset);
      const FileSection ids = sectionAt(offset + header_.attrSize - sizeof(FileSection));
      if (!inside(ids) || ids.size % sizeof(uint64_t) != 0) {
        fail("the ids of event " + std::to_string(i) + " (attribute at file offset " +
                 std::to_string(offset) + ") take " + describe(ids),
             kDamaged);
      }
      // Sections that overlap could hold many times what the file holds.
      idBytes += ids.size;
      if (idBytes > file_.size()) {
        fail("the events' ids, up to the attribute at file offset " + std::to_string(offset) +
                 ", take more bytes than the file has",
             kDamaged);
      }
      event.ids.reserve(ids.size / sizeof(uint64_t));
      for (uint64_t at = 0; at < ids.size; at += sizeof(uint64_t))
        event.ids.push_back(number(ids.offset + at));
      result_.events.push_back(std::move(event));
    }
  }

  Event readAttribute(uint64_t offset) const {
    const uint64_t room = header_.attrSize - sizeof(FileSection);
    const auto bytes = file_.subspan(offset, room);
    const uint32_t size = attrSizeOf(bytes, result_.order);
    if (size < PERF_ATTR_SIZE_VER0 || size > room) {
      fail("the event attribute at file offset " + std::to_string(offset) + " says it has " +
               std::to_string(size) + " bytes, in " + std::to_string(room) + " bytes of room",
           kDamaged);
    }
    Event event;
    event.attr = readAttr(bytes.first(size), result_.order);
    return event;
  }

  void placeData() {
    const FileSection& data = header_.data;
    if (data.offset > file_.size() || data.offset < header_.size)
      fail("the records take " + describe(data), kDamaged);
    const uint64_t rest = file_.size() - data.offset;
    result_.data = {data.offset, std::min(data.size, rest)};
    if (data.size > rest) {
      warn("the header says that the records take " + std::to_string(data.size) + " bytes from file offset " +
           std::to_string(data.offset) + ", but the file ends at " + std::to_string(file_.size()) +
           ": it was cut short");
    }
  }

  void placeFeatures() {
    std::vector<uint32_t> bits;
    for (uint32_t bit = 0; bit < kFeatureCount; ++bit) {
      if (hasFeature(bit)) bits.push_back(bit);
    }
    const FileSection& data = header_.data;
    if (data.size == 0 && !emptyDataIsMeant(bits.size())) {
      result_.data.size = file_.size() - data.offset;
      result_.unfinished = true;
      warn(
          "the recording was not finished (its recorder was killed?): records are read to the file's end, "
          "and there are no header features");
      return;
    }
    if (bits.empty() || data.size > file_.size() - data.offset) return;  // the latter is warned of already
    const FileSection table{data.offset + data.size, bits.size() * sizeof(FileSection)};
    if (!inside(table)) {
      warn("the table of header features takes " + describe(table) +
           ": host name, command line and the like are not known");
      return;
    }
    uint64_t total = 0;
    for (size_t i = 0; i < bits.size(); ++i) {
      const uint64_t offset = table.offset + i * sizeof(FileSection);
      const FileSection content = sectionAt(offset);
      // Sections that overlap could hold many times what the file holds.
      if (content.size == 0 || (inside(content) && (total += content.size) <= file_.size())) {
        result_.features.emplace_back(bits[i], content);
      } else {
        warn("header feature " + std::to_string(bits[i]) + " (table entry at file offset " +
             std::to_string(offset) + ") takes " + describe(content));
      }
    }
  }

  /// A data size of 0 also stands in a finished recording without a single record: the feature table follows
  /// at once then.
  bool emptyDataIsMeant(uint64_t featureCount) const {
    const FileSection table{header_.data.offset, featureCount * sizeof(FileSection)};
    if (featureCount == 0 || !inside(table)) return false;
    return number(table.offset) == table.offset + table.size;
  }

  void warn(const std::string& what) { result_.warnings.push_back(name_ + ": " + what); }

  std::span<const uint8_t> file_;
  const std::string& name_;
  FileHeaderBytes header_;
  FileHeader result_;
};

}  // namespace

FileHeader readFileHeader(std::span<const uint8_t> file, const std::string& name) {
  return HeaderReader(file, name).read();
}

}  // namespace cacheline::perfdata
