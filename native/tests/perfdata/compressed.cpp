// Compressed records: one zstd stream cut anywhere, in files, pipes and folders; streams that are damaged or
// made to fill memory.
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "example.h"
#include "file_builder.h"
#include "perfdata/decompressor.h"

namespace cacheline::perfdata::testing {
namespace {

/// The example, of which everything but the ends of rounds is compressed, `pieces` bytes at a time: as perf
/// does it, the ends of rounds stand between the compressed records.
RecordBuilder compressedExample(RecordCompressor& compressor, size_t pieces, ByteOrder order,
                                uint64_t samples = 40) {
  const RecordBuilder plain = exampleRecording(order, samples);
  RecordBuilder b = exampleRecording(order, 0);
  b.records().clear();
  Bytes waiting;
  const Bytes& records = plain.records();
  for (size_t at = 0; at < records.size();) {
    const size_t size = load<uint16_t>(&records[at + 6], order);
    const uint32_t type = load<uint32_t>(&records[at], order);
    if (type == kRecordFinishedRound) {
      const Bytes packed = compressor.records(waiting, pieces);
      b.records().insert(b.records().end(), packed.begin(), packed.end());
      b.finishedRound();
      waiting.clear();
    } else {
      waiting.insert(waiting.end(), &records[at], &records[at] + size);
    }
    at += size;
  }
  return b;
}

TEST(Compressed, RecordsCutAnywhereInFilesAndPipesOfEitherByteOrder) {
  const std::string expected = readAndDescribe(fileBytes(exampleRecording()));
  for (const ByteOrder order : {ByteOrder::native, ByteOrder::foreign}) {
    for (const uint32_t type : {kRecordCompressed, kRecordCompressed2}) {
      for (const size_t pieces : {size_t{1}, size_t{7}, size_t{333}, size_t{4096}, size_t{60000}}) {
        RecordCompressor compressor(type, order);
        const RecordBuilder b = compressedExample(compressor, pieces, order);
        EXPECT_EQ(readAndDescribe(fileBytes(b)), expected) << type << ", " << pieces;
        EXPECT_EQ(readAndDescribe(pipeBytes(b)), expected) << type << ", " << pieces;
      }
    }
  }
}

TEST(Compressed, RecordsOfManyChunksAreCountedAndOrdered) {
  const std::string expected = readAndDescribe(fileBytes(exampleRecording(ByteOrder::native, 20'000)));
  RecordCompressor compressor;
  const RecordBuilder b = compressedExample(compressor, 1000, ByteOrder::native, 20'000);
  const Bytes bytes = fileBytes(b);
  EXPECT_LT(bytes.size(), 1'500'000u);
  EXPECT_EQ(readAndDescribe(bytes), expected);
  const auto reader = Reader::fromBytes(bytes, "FILE");
  Collector got;
  reader->readAll(got);
  EXPECT_EQ(reader->recordCounts()[PERF_RECORD_SAMPLE], 20'000u);
  EXPECT_EQ(reader->recordCounts()[kRecordFinishedRound], 1251u);
  EXPECT_GT(reader->recordCounts()[kRecordCompressed], 1251u);
}

TEST(Compressed, SeveralFramesInOneStream) {
  const RecordBuilder plain = exampleRecording();
  RecordBuilder b = plain;
  b.records().clear();
  RecordCompressor compressor;
  const std::span<const uint8_t> all(plain.records());
  const size_t third = all.size() / 3;  // within a record
  for (const auto part : {all.first(third), all.subspan(third, third), all.subspan(2 * third)}) {
    const Bytes packed = compressor.record(part, true);
    b.records().insert(b.records().end(), packed.begin(), packed.end());
  }
  b.finishedRound();
  // The rounds' ends are inside of the stream here, which means the same.
  EXPECT_EQ(readAndDescribe(pipeBytes(b)), readAndDescribe(fileBytes(plain)));
}

TEST(Compressed, EachFileOfAFolderHasItsOwnStream) {
  const uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  TempFolder folder;
  RecordBuilder header;
  header.event(clockAttr(type), "clock");
  writeBytes(folder / "data", fileBytes(header));
  for (uint32_t file = 0; file < 3; ++file) {
    RecordBuilder b;
    b.event(clockAttr(type)).cpu(file);
    for (uint64_t i = file; i < 30'000; i += 3) b.at(100 + i).sample({.ip = i});
    RecordCompressor compressor;
    writeBytes(folder / ("data." + std::to_string(file)), compressor.records(b.records(), 20'001));
  }
  const auto reader = Reader::open(folder / "");
  Collector got;
  reader->readAll(got);
  ASSERT_EQ(got.samples.size(), 30'000u);
  for (uint64_t i = 0; i < got.samples.size(); ++i) ASSERT_EQ(got.samples[i].ip, i);
  EXPECT_FALSE(warns(*reader, "compressed")) << reader->warnings().front();
}

Collector readWithWarnings(const Bytes& bytes, std::vector<std::string>& warnings) {
  const auto reader = Reader::fromBytes(bytes, "FILE");
  Collector got;
  reader->readAll(got);
  warnings = reader->warnings();
  return got;
}

bool anyContains(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

TEST(Compressed, ADamagedStreamIsNamedByItsFileOffsetAndTheRestIsRead) {
  const RecordBuilder plain = exampleRecording();
  RecordBuilder b = plain;
  b.records().clear();
  RecordCompressor compressor;
  const Bytes good = compressor.record({plain.records().data(), 1000});
  Bytes bad = compressor.record({plain.records().data() + 1000, 3000});
  std::fill(bad.begin() + 12, bad.begin() + 40, uint8_t{0xff});
  b.records() = good;
  b.records().insert(b.records().end(), bad.begin(), bad.end());
  b.records().insert(b.records().end(), good.begin(), good.end());  // a stream that has ended takes no more
  b.use(0).at(9500).comm("behind");
  const Bytes bytes = fileBytes(b);
  std::vector<std::string> warnings;
  const Collector got = readWithWarnings(bytes, warnings);
  EXPECT_GT(got.samples.size(), 0u);
  EXPECT_EQ(got.comms.back().text, "behind");
  const size_t offset = bytes.size() - b.records().size() + good.size();
  EXPECT_TRUE(anyContains(warnings,
                          "compressed records cannot be read on from file offset " + std::to_string(offset)))
      << warnings.at(0);
}

TEST(Compressed, AStreamThatEndsWithinARecordSaysSo) {
  const RecordBuilder plain = exampleRecording();
  RecordBuilder b = plain;
  RecordCompressor compressor;
  b.records() = compressor.record({plain.records().data(), plain.records().size() - 5});
  std::vector<std::string> warnings;
  readWithWarnings(fileBytes(b), warnings);
  EXPECT_TRUE(anyContains(warnings, "ends inside a record, after 3 bytes")) << warnings.at(0);
}

TEST(Compressed, RecordsThatMakeNoSenseEndTheStream) {
  RecordBuilder b;
  b.event(clockAttr());
  Bytes content = RecordBuilder(b).at(5).sample({.ip = 1}).records();
  content.resize(content.size() + 4096);  // records of no bytes
  b.records() = RecordCompressor().record(content);
  b.at(6).sample({.ip = 2});
  std::vector<std::string> warnings;
  const Collector got = readWithWarnings(fileBytes(b), warnings);
  EXPECT_EQ(got.samples.size(), 2u);
  EXPECT_TRUE(anyContains(warnings, "a record in them says it has 0 bytes")) << warnings.at(0);
}

TEST(Compressed, CompressedInsideOfCompressedIsPassedOver) {
  RecordBuilder b;
  b.event(clockAttr()).at(5).sample({.ip = 1});
  const Bytes inner = RecordCompressor().record(b.records());
  b.records() = RecordCompressor().record(inner);
  std::vector<std::string> warnings;
  EXPECT_TRUE(readWithWarnings(fileBytes(b), warnings).samples.empty());
  EXPECT_TRUE(anyContains(warnings, "1 compressed records lie inside compressed records")) << warnings.at(0);
}

TEST(Compressed, SizesThatLie) {
  for (const uint64_t lie : {uint64_t{17}, uint64_t{1} << 40, ~uint64_t{0}}) {
    RecordBuilder b;
    b.event(clockAttr()).raw(kRecordCompressed2, 0, ByteBuilder().put(lie).zeros(16).bytes());
    b.raw(kRecordCompressed2, 0, Bytes(4)).raw(kRecordCompressed, 0, {}).at(5).sample({.ip = 1});
    std::vector<std::string> warnings;
    EXPECT_EQ(readWithWarnings(fileBytes(b), warnings).samples.size(), 1u);
    EXPECT_TRUE(anyContains(warnings, "2 records are shorter")) << warnings.at(0);
  }
}

TEST(Compressed, ABombIsDefusedByItsRatio) {
  RecordBuilder b;
  b.event(clockAttr());
  // 200 MiB of ends of rounds, which nobody would have to keep.
  const Bytes round = RecordBuilder(b).finishedRound().records();
  Bytes content;
  while (content.size() < (4 << 20)) content.insert(content.end(), round.begin(), round.end());
  RecordCompressor compressor;
  for (int i = 0; i < 50; ++i) {
    const Bytes one = compressor.record(content);
    b.records().insert(b.records().end(), one.begin(), one.end());
  }
  b.at(5).sample({.ip = 1});
  ASSERT_LT(b.records().size(), 100'000u);
  std::vector<std::string> warnings;
  EXPECT_EQ(readWithWarnings(fileBytes(b), warnings).samples.size(), 1u);
  EXPECT_TRUE(anyContains(warnings, "more than 4096 times")) << warnings.at(0);
}

TEST(Compressed, WhatWaitsForTheEndOfARoundIsBounded) {
  RecordBuilder b;
  b.event(clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_STACK_USER));
  RecordCompressor compressor;
  RecordBuilder piece = b;
  uint64_t time = 0, samples = 0;
  for (uint64_t bytes = 0; bytes < (100 << 20); bytes += piece.records().size()) {  // one round of 100 MiB
    piece.records().clear();
    for (int i = 0; i < 100; ++i, ++samples) piece.at(++time).sample({.ip = time, .stack = Bytes(8000, 7)});
    const Bytes packed = compressor.record(piece.records());
    b.records().insert(b.records().end(), packed.begin(), packed.end());
  }
  ASSERT_LT(b.records().size(), 1u << 20);
  const Bytes bytes = fileBytes(b);
  class Counter : public RecordVisitor {
   public:
    void onSample(const Sample& s) override { inOrder += s.ip == inOrder + 1; }
    uint64_t inOrder = 0;
  } got;
  const auto reader = Reader::fromBytes(bytes, "FILE");
  reader->readAll(got);
  EXPECT_EQ(got.inOrder, samples);
  EXPECT_TRUE(warns(*reader, "a round takes more than 67108864 bytes decompressed"));
}

TEST(Compressed, ChunksAreFreedOnceDelivered) {
  RecordCompressor compressor;
  Bytes content(60'000);
  std::mt19937 random(1);
  for (uint8_t& byte : content) byte = static_cast<uint8_t>(random());
  Decompressor d;
  for (uint64_t i = 1; i <= 100; ++i) {
    const Bytes record = compressor.record(content);
    d.feed(std::span(record).subspan(8), i);
    for (auto bytes = d.next(); !bytes.empty(); bytes = d.next()) d.take(bytes.size(), i);
    d.release(i);
    EXPECT_LE(d.held(), 512u << 10);
  }
  EXPECT_EQ(d.failure(), "");
  const uint64_t held = d.held();
  for (uint64_t i = 101; i <= 200; ++i) {
    const Bytes record = compressor.record(content);
    d.feed(std::span(record).subspan(8), i);
    for (auto bytes = d.next(); !bytes.empty(); bytes = d.next()) d.take(bytes.size(), i);
    d.release(100);
  }
  EXPECT_EQ(d.failure(), "");
  EXPECT_GT(d.held(), held + 5'000'000) << "what was not delivered stays";
}

}  // namespace
}  // namespace cacheline::perfdata::testing
