// Files that are cut, damaged or lie: a warning or an error with the file offset, everything before it, and
// never a crash.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <random>
#include <string>

#include "base/error.h"
#include "perfdata/bytes.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "record_builder.h"
#include "test_support.h"

namespace cacheline::perfdata::testing {
namespace {

RecordBuilder wholeRecording() {
  RecordBuilder b;
  b.event(clockAttr(), "cpu-clock:u", {1, 2});
  b.thread(5, 5).at(1).comm("worker").at(2).mmap2(
      {.address = 0x1000, .length = 0x1000, .file = "/usr/bin/worker"});
  for (uint64_t i = 0; i < 40; ++i) b.cpu(i % 2).at(10 + i).sample({.ip = 0x1000 + i});
  b.finishedRound();
  return b;
}

std::vector<uint8_t> wholeFile(const RecordBuilder& b) {
  Features f;
  f.hostname = "host";
  f.cpusAvailable = f.cpusOnline = 2;
  f.coreSiblings = {"0-1"};
  f.threadSiblings = {"0", "1"};
  f.cpuPlaces = {{0, 0, 0}, {1, 0, 0}};
  f.cmdline = {"cacheline", "record"};
  f.buildIds = {{-1, "0011223344556677", "/usr/bin/worker", false}};
  f.sampleTime = {10, 49};
  TempFolder folder;
  b.write(folder / "perf.data", f);
  return readBytes(folder / "perf.data");
}

template <typename T>
void store(std::vector<uint8_t>& bytes, size_t offset, T value) {
  std::memcpy(&bytes.at(offset + sizeof value - 1) - (sizeof value - 1), &value, sizeof value);
}

constexpr size_t kAttrSizeField = offsetof(FileHeaderBytes, attrSize),
                 kAttrsField = offsetof(FileHeaderBytes, attrs), kDataField = offsetof(FileHeaderBytes, data),
                 kFeaturesField = offsetof(FileHeaderBytes, features);

/// "" where the bytes open, else the error, which must be the one kind and speak of the file by name.
std::string openError(const std::vector<uint8_t>& bytes) {
  try {
    Reader::fromBytes(bytes, "FILE");
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unreadable);
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("FILE: the ") || text.starts_with("FILE is ") ||
                text.starts_with("FILE holds "))
        << text;
    return error.what();
  }
}

void expectOpenError(const std::vector<uint8_t>& bytes, const std::string& part) {
  const std::string message = openError(bytes);
  EXPECT_NE(message.find(part), std::string::npos) << "got: " << message;
}

TEST(Damage, CutAtEveryByteIsNeverSilent) {
  const RecordBuilder b = wholeRecording();
  const auto whole = wholeFile(b);
  Collector all;
  const auto reader = Reader::fromBytes(whole, "FILE");
  reader->readAll(all);
  ASSERT_TRUE(reader->warnings().empty()) << reader->warnings().front();
  ASSERT_EQ(all.samples.size(), 40u);

  const uint64_t dataStart = load<uint64_t>(&whole[kDataField]);
  size_t read = 0, lastCount = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    if (!openError(cut).empty()) continue;
    ++read;
    const auto cutReader = Reader::fromBytes(cut, "FILE");
    Collector got;
    cutReader->readAll(got);
    EXPECT_FALSE(cutReader->warnings().empty()) << "cut at " << size;
    EXPECT_GE(got.order.size(), lastCount) << "cut at " << size;
    lastCount = got.order.size();
  }
  EXPECT_EQ(lastCount, all.order.size());
  EXPECT_EQ(read, whole.size() - dataStart) << "every cut behind the attributes can be read";
}

TEST(Damage, CutInAnUnfinishedRecordingGivesEveryWholeRecord) {
  const RecordBuilder b = wholeRecording();
  TempFolder folder;
  { Writer::create(folder / "perf.data", b.events())->append(b.records()); }  // never finished
  const auto whole = readBytes(folder / "perf.data");
  const size_t start = whole.size() - b.records().size();
  std::vector<size_t> ends;  // of every record but the last one, FINISHED_ROUND
  for (size_t at = start; at < whole.size(); at += load<perf_event_header>(&whole[at]).size) {
    ends.push_back(at + load<perf_event_header>(&whole[at]).size);
  }
  ends.pop_back();
  for (size_t size = start; size <= whole.size(); ++size) {
    const auto reader = Reader::fromBytes({whole.data(), size}, "FILE");
    Collector got;
    reader->readAll(got);
    EXPECT_EQ(got.order.size(), static_cast<size_t>(std::count_if(ends.begin(), ends.end(),
                                                                  [&](size_t end) { return end <= size; })))
        << "cut at " << size;
    EXPECT_TRUE(warns(*reader, "not finished")) << "cut at " << size;
  }
}

TEST(Damage, ACutRecordIsNamedByItsFileOffset) {
  const RecordBuilder b = wholeRecording();
  auto bytes = wholeFile(b);
  const uint64_t start = load<uint64_t>(&bytes[kDataField]);
  const uint64_t last = start + b.records().size() - 8;  // FINISHED_ROUND
  bytes.resize(last + 3);
  const auto reader = Reader::fromBytes(bytes, "FILE");
  Collector got;
  reader->readAll(got);
  EXPECT_EQ(got.samples.size(), 40u);
  EXPECT_TRUE(warns(*reader, "record at file offset " + std::to_string(last))) << reader->warnings().back();
}

TEST(Damage, RecordSizesBelowTheirHeaderEndTheReading) {
  for (uint16_t size = 0; size < 8; ++size) {
    auto bytes = wholeFile(wholeRecording());
    const uint64_t start = load<uint64_t>(&bytes[kDataField]);
    const uint64_t second = start + load<perf_event_header>(&bytes[start]).size;
    store<uint16_t>(bytes, second + offsetof(perf_event_header, size), size);
    const auto reader = Reader::fromBytes(bytes, "FILE");
    Collector got;
    reader->readAll(got);
    EXPECT_EQ(got.kinds(), "C");
    EXPECT_TRUE(warns(*reader, "record at file offset " + std::to_string(second) + " says it has " +
                                   std::to_string(size) + " bytes"));
  }
}

TEST(Damage, RecordsShorterThanTheirTypeAreSkippedAndCounted) {
  RecordBuilder b;
  b.event(clockAttr());
  for (const uint32_t type :
       {PERF_RECORD_MMAP, PERF_RECORD_MMAP2, PERF_RECORD_COMM, PERF_RECORD_FORK, PERF_RECORD_EXIT,
        PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES, PERF_RECORD_SAMPLE}) {
    for (size_t size = 0; size < 8; ++size) b.raw(type, 0, std::vector<uint8_t>(size, 0xee));
  }
  b.at(5).sample({.ip = 1});
  TempFolder folder;
  b.write(folder / "perf.data");
  const auto reader = Reader::open(folder / "perf.data");
  Collector got;
  reader->readAll(got);
  EXPECT_EQ(got.kinds(), "S");
  EXPECT_TRUE(warns(*reader, "64 records are shorter than what they say they hold"));
}

TEST(Damage, TraceDataSizesThatLieEndTheReading) {
  for (const uint64_t lie :
       {uint64_t{1}, uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{0} - 47, ~uint64_t{0} - 55}) {
    RecordBuilder b;
    b.event(clockAttr()).at(5).sample({});
    const size_t place = b.records().size();
    b.raw(kRecordAuxtrace, 0, std::vector<uint8_t>(40));
    TempFolder folder;
    b.write(folder / "perf.data");
    std::vector<uint8_t> file = readBytes(folder / "perf.data");  // the writer takes no lies
    FileHeaderBytes header;
    std::memcpy(&header, file.data(), sizeof header);
    store(file, static_cast<size_t>(header.data.offset) + place + sizeof(perf_event_header), lie);
    writeBytes(folder / "perf.data", file);
    const auto reader = Reader::open(folder / "perf.data");
    Collector got;
    reader->readAll(got);
    EXPECT_EQ(got.kinds(), "S");
    EXPECT_TRUE(warns(*reader, "bytes of trace data follow")) << lie;
  }
}

TEST(Damage, FileNamesWithoutAnEndStopAtTheRecordsEnd) {
  perf_event_attr attr = clockAttr();
  attr.sample_id_all = 0;
  RecordBuilder b;
  b.event(attr)
      .raw(PERF_RECORD_MMAP, 0, std::vector<uint8_t>(40, 'A'))
      .raw(PERF_RECORD_COMM, 0, std::vector<uint8_t>(8, 'B'));
  TempFolder folder;
  b.write(folder / "perf.data");
  Collector got;
  Reader::open(folder / "perf.data")->readAll(got);
  EXPECT_EQ(got.mmaps.at(0).path, "AAAAAAAA");
  EXPECT_EQ(got.comms.at(0).text, "");
}

TEST(Damage, NoPerfData) {
  expectOpenError({}, "only 0 bytes");
  expectOpenError({'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'}, "only 8 bytes");
  expectOpenError(std::vector<uint8_t>(200, 'x'), "not a perf.data file");
  EXPECT_THROW(Reader::open("/nonexistent/perf.data"), Error);
  EXPECT_THROW(Reader::open("/"), Error);
}

TEST(Damage, HeaderFieldsThatLie) {
  const auto whole = wholeFile(wholeRecording());
  const uint64_t lies[] = {
      0,          1,          7,          9,         63,   79, 105, whole.size() - 1, whole.size() + 1,
      1ull << 31, 1ull << 62, 1ull << 63, ~0ull - 7, ~0ull};
  for (const size_t field :
       {size_t{8}, kAttrSizeField, kAttrsField, kAttrsField + 8, kDataField, kDataField + 8}) {
    for (const uint64_t lie : lies) {
      auto bytes = whole;
      store(bytes, field, lie);
      if (!openError(bytes).empty()) continue;
      const auto reader = Reader::fromBytes(bytes, "FILE");
      Collector got;
      reader->readAll(got);
      if (field == 8 && lie == 105)
        continue;  // a header that grew: what is known of it stands where it stood
      // The size of the attributes may grow by less than one attribute without meaning anything else.
      EXPECT_TRUE(!reader->warnings().empty() || field == kAttrsField + 8)
          << "field at " << field << " = " << lie;
    }
  }
}

TEST(Damage, AttributesOutsideOfTheFile) {
  auto bytes = wholeFile(wholeRecording());
  store<uint64_t>(bytes, kAttrsField, bytes.size() - 8);
  expectOpenError(bytes, "file offset " + std::to_string(bytes.size() - 8));
}

TEST(Damage, AttributeSizesThatLie) {
  const auto whole = wholeFile(wholeRecording());
  const uint64_t attr = load<uint64_t>(&whole[kAttrsField]);
  for (const uint32_t size : {1u, 63u, 129u, 0x7fffffffu, 0xffffffffu}) {
    auto bytes = whole;
    store(bytes, attr + offsetof(perf_event_attr, size), size);
    expectOpenError(bytes, "file offset " + std::to_string(attr) + " says it has " + std::to_string(size));
  }
}

TEST(Damage, HugeIdCounts) {
  const auto whole = wholeFile(wholeRecording());
  const uint64_t ids = load<uint64_t>(&whole[kAttrsField]) + sizeof(perf_event_attr);
  for (const uint64_t size :
       {uint64_t{4}, (whole.size() & ~uint64_t{7}) + 8, uint64_t{1} << 40, ~uint64_t{7}}) {
    auto bytes = whole;
    store(bytes, ids + 8, size);
    expectOpenError(bytes, "ids of event 0");
  }
}

TEST(Damage, IdSectionsOfManyEventsThatOverlapDoNotMultiply) {
  RecordBuilder b;
  for (int i = 0; i < 200; ++i) b.event(clockAttr(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP), {}, {1});
  TempFolder folder;
  b.write(folder / "perf.data");
  auto bytes = readBytes(folder / "perf.data");
  const uint64_t attrs = load<uint64_t>(&bytes[kAttrsField]), entry = load<uint64_t>(&bytes[kAttrSizeField]);
  for (uint64_t i = 0; i < 200; ++i) {
    store<uint64_t>(bytes, attrs + (i + 1) * entry - 16, 0);
    store<uint64_t>(bytes, attrs + (i + 1) * entry - 8, bytes.size() & ~7ull);
  }
  expectOpenError(bytes, "more bytes than the file has");
}

TEST(Damage, NoEvents) {
  auto bytes = wholeFile(wholeRecording());
  store<uint64_t>(bytes, kAttrsField + 8, 0);
  expectOpenError(bytes, "no events");
}

/// The same file with attributes of `size` bytes, as an older or newer recorder would have written them.
std::vector<uint8_t> withAttrSize(const RecordBuilder& b, uint32_t size, bool sizeField) {
  std::vector<uint8_t> bytes = wholeFile(b);
  const uint64_t attr = load<uint64_t>(&bytes[kAttrsField]), start = load<uint64_t>(&bytes[kDataField]);
  std::vector<uint8_t> entry(&bytes[attr], &bytes[attr] + sizeof(perf_event_attr));
  entry.resize(size);
  store<uint32_t>(entry, offsetof(perf_event_attr, size), sizeField ? size : 0);
  std::vector<uint8_t> out(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(attr));
  out.insert(out.end(), entry.begin(), entry.end());
  out.insert(out.end(), &bytes[start] - sizeof(FileSection), &bytes[start]);
  store<uint64_t>(out, kAttrSizeField, size + sizeof(FileSection));
  store<uint64_t>(out, kAttrsField + 8, size + sizeof(FileSection));
  store<uint64_t>(out, kDataField, out.size());
  for (size_t i = 0; i < 32; ++i) out[kFeaturesField + i] = 0;
  out.insert(out.end(), b.records().begin(), b.records().end());
  return out;
}

TEST(Damage, AttributesOfEverySizeFromTheFirstToNewerThanKnown) {
  RecordBuilder b;
  b.event(clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME), {}, {1})
      .at(5)
      .sample({.ip = 7})
      .comm("x");
  for (const uint32_t size : {64u, 72u, 80u, 96u, 104u, 112u, 120u, 128u, 136u, 256u}) {
    for (const bool sizeField : {true, false}) {
      const auto bytes = withAttrSize(b, size, sizeField);
      const auto reader = Reader::fromBytes(bytes, "FILE");
      Collector got;
      reader->readAll(got);
      EXPECT_EQ(got.kinds(), "SC") << size;
      EXPECT_EQ(got.samples.at(0).ip, 7u);
      EXPECT_TRUE(reader->warnings().empty()) << reader->warnings().front();
      EXPECT_EQ(reader->events()[0].attr.sample_freq, 499u);
      EXPECT_EQ(reader->events()[0].ids, std::vector<uint64_t>{1});
    }
  }
}

TEST(Damage, FeatureSectionsThatLie) {
  const auto whole = wholeFile(wholeRecording());
  const uint64_t table = load<uint64_t>(&whole[kDataField]) + load<uint64_t>(&whole[kDataField + 8]);
  size_t features = 0;
  for (size_t i = 0; i < 4; ++i) {
    features += static_cast<size_t>(std::popcount(load<uint64_t>(&whole[kFeaturesField + 8 * i])));
  }
  ASSERT_GE(features, 6u);
  for (size_t i = 0; i < features; ++i) {
    for (const uint64_t size : {uint64_t{3}, uint64_t{whole.size()}, ~uint64_t{0}}) {
      auto bytes = whole;
      store(bytes, table + 16 * i + 8, size);
      const auto reader = Reader::fromBytes(bytes, "FILE");
      Collector got;
      reader->readAll(got);
      EXPECT_EQ(got.samples.size(), 40u);
      EXPECT_TRUE(warns(*reader, "header feature")) << "feature " << i << ", size " << size;
    }
    // Counts and lengths inside of the section.
    auto bytes = whole;
    store<uint32_t>(bytes, load<uint64_t>(&whole[table + 16 * i]), 0xffffffff);
    const auto reader = Reader::fromBytes(bytes, "FILE");
    EXPECT_LE(reader->features().cmdline.size(), 2u);
  }
}

TEST(Damage, RandomBytesInEveryPlace) {
  const auto whole = wholeFile(wholeRecording());
  std::mt19937_64 random(7);
  size_t opened = 0;
  for (int i = 0; i < 10000; ++i) {
    auto bytes = whole;
    for (uint64_t n = 1 + random() % 4; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    if (!openError(bytes).empty()) continue;
    ++opened;
    const auto reader = Reader::fromBytes(bytes, "FILE");
    Collector got;
    try {
      reader->readAll(got);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unreadable) << error.what();
    }
    EXPECT_LE(got.order.size(), 1000u);
  }
  EXPECT_GT(opened, 1000u);
}

}  // namespace
}  // namespace cacheline::perfdata::testing
