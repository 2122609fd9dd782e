// One recording in every form it can be written in: file, pipe and folder, either byte order, attributes of
// every size. What is read is the same.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "example.h"
#include "file_builder.h"
#include "perfdata/attr_reader.h"

namespace cacheline::perfdata::testing {
namespace {

const std::string& expected() {
  static const std::string text = readAndDescribe(fileBytes(exampleRecording()));
  return text;
}

TEST(Forms, TheExampleHasEverything) {
  EXPECT_EQ(expected().substr(0, 5), "MCMMF");
  EXPECT_NE(
      expected().find("sample 0 100000001 400100 11170/11171 7d0 7fff00001000 0 3e8 64 7 9 68100842 0 1000"),
      std::string::npos)
      << expected();
  EXPECT_NE(expected().find("sample 1 100000011 400101"), std::string::npos);
  EXPECT_NE(expected().find("abcdef /lib/x.so"), std::string::npos);
}

TEST(Forms, TheOtherByteOrder) {
  EXPECT_EQ(readAndDescribe(fileBytes(exampleRecording(ByteOrder::foreign))), expected());
}

TEST(Forms, Pipes) {
  EXPECT_EQ(readAndDescribe(pipeBytes(exampleRecording())), expected());
  EXPECT_EQ(readAndDescribe(pipeBytes(exampleRecording(ByteOrder::foreign))), expected());
}

TEST(Forms, AttributesOfEverySize) {
  // The second event asks for registers, which an attribute of 96 bytes cannot say: so only what can.
  for (const ByteOrder order : {ByteOrder::native, ByteOrder::foreign}) {
    for (const uint32_t size : {104u, 112u, 120u, 128u, 136u, 256u}) {
      EXPECT_EQ(readAndDescribe(fileBytes(exampleRecording(order), {.attrSize = size})), expected()) << size;
      EXPECT_EQ(readAndDescribe(pipeBytes(exampleRecording(order), {}, size)), expected()) << size;
    }
  }
}

TEST(Forms, EveryFlagOfAnAttributeOfTheOtherByteOrder) {
  perf_event_attr attr{};
  for (uint32_t bit = 0; bit < 64; ++bit) {
    if (bit == 15 || bit == 16) continue;  // precise_ip, below
    const uint64_t flag = uint64_t{1} << bit;
    std::memcpy(reinterpret_cast<uint8_t*>(&attr) + 40, &flag, sizeof flag);
    const perf_event_attr got = readAttr(attrBytes(attr, ByteOrder::foreign), ByteOrder::foreign);
    EXPECT_EQ(load<uint64_t>(reinterpret_cast<const uint8_t*>(&got) + 40), flag) << "flag " << bit;
  }
  attr = {};
  for (uint32_t value = 0; value < 4; ++value) {
    attr.precise_ip = value & 3;
    EXPECT_EQ(readAttr(attrBytes(attr, ByteOrder::foreign), ByteOrder::foreign).precise_ip, value);
  }
}

TEST(Forms, EveryNumberOfAnAttributeOfTheOtherByteOrder) {
  const perf_event_attr attr = exampleRecording().events()[1].attr;
  const perf_event_attr got = readAttr(attrBytes(attr, ByteOrder::foreign), ByteOrder::foreign);
  EXPECT_EQ(std::memcmp(&got, &attr, sizeof attr), 0);
}

TEST(Forms, EventsOfTheOtherByteOrderAreTheSame) {
  const Bytes bytes = fileBytes(exampleRecording(ByteOrder::foreign));
  const auto reader = Reader::fromBytes(bytes, "FILE");
  ASSERT_EQ(reader->events().size(), 2u);
  EXPECT_EQ(reader->events()[0].ids, (std::vector<uint64_t>{0x1'0000'0001, 0x1'0000'0002}));
  EXPECT_EQ(reader->events()[0].attr.precise_ip, 2u);
  EXPECT_EQ(reader->events()[0].attr.sample_id_all, 1u);
  EXPECT_EQ(reader->events()[0].attr.config, 0x1cdu);
  EXPECT_EQ(reader->events()[1].attr.sample_regs_intr, kX86SampleRegs);
}

TEST(Forms, FeatureBitsOf32BitMachinesOfTheOtherByteOrder) {
  const auto text = [](const std::string& value) {
    return ByteBuilder(ByteOrder::foreign).putString(value).bytes();
  };
  for (const bool halfWordBits : {false, true}) {
    const Bytes bytes =
        fileBytes(exampleRecording(ByteOrder::foreign),
                  {.features = {{kFeatureHostname, text("host")}, {kFeatureArch, text("ppc")}},
                   .halfWordBits = halfWordBits});
    const auto reader = Reader::fromBytes(bytes, "FILE");
    EXPECT_EQ(reader->features().hostname, "host") << halfWordBits;
    EXPECT_EQ(reader->features().arch, "ppc");
    EXPECT_TRUE(reader->warnings().empty()) << reader->warnings().front();
  }
}

TEST(Forms, RegistersOf32BitProgramsSayThatTheyAre) {
  RecordBuilder b;
  b.event(clockAttr()).at(1).sample({.registers = {{kRegAx, 5}}, .abi = PERF_SAMPLE_REGS_ABI_32});
  b.at(2).sample({.interruptAbi = false});
  const Bytes bytes = fileBytes(b);
  Collector got;
  Reader::fromBytes(bytes, "FILE")->readAll(got);
  EXPECT_EQ(got.samples.at(0).registersAbi, PERF_SAMPLE_REGS_ABI_32);
  EXPECT_EQ(got.samples.at(0).registers.value[kRegAx], 5u);
  EXPECT_EQ(got.samples.at(1).registersAbi, PERF_SAMPLE_REGS_ABI_NONE);
  EXPECT_EQ(got.samples.at(1).registers.mask, 0u);
}

TEST(Forms, PipesNameTheirEvents) {
  const RecordBuilder b = exampleRecording();
  ByteBuilder header;
  ByteBuilder update;
  header.putRecord(kRecordEventUpdate, update.put(uint64_t{kEventUpdateName})
                                           .put(uint64_t{0x1'0000'0012})
                                           .put(Bytes{'s', 't', 'o', 'r', 'e', 's', 0, 0})
                                           .bytes());
  ByteBuilder unit;  // says nothing of names
  header.putRecord(kRecordEventUpdate, unit.put(uint64_t{kEventUpdateUnit})
                                           .put(uint64_t{0x1'0000'0001})
                                           .put(Bytes{'m', 's', 0, 0, 0, 0, 0, 0})
                                           .bytes());
  const Bytes bytes = pipeBytes(b, header.bytes());
  const auto reader = Reader::fromBytes(bytes, "FILE");
  EXPECT_EQ(reader->events().at(0).name, "cpu/config=0x1cd/");
  EXPECT_EQ(reader->events().at(1).name, "stores");

  ByteBuilder type;
  ByteBuilder old;
  old.putRecord(kRecordHeaderEventType,
                type.put(uint64_t{0x1cd}).put(Bytes{'l', 'o', 'a', 'd', 's', 0}).bytes());
  const Bytes oldBytes = pipeBytes(b, old.bytes());
  const auto oldReader = Reader::fromBytes(oldBytes, "FILE");
  EXPECT_EQ(oldReader->events().at(0).name, "loads");
  EXPECT_EQ(oldReader->events().at(1).name, "cpu-clock");
}

TEST(Forms, FeaturesBuildIdsAndTracingDataOfPipes) {
  for (const ByteOrder order : {ByteOrder::native, ByteOrder::foreign}) {
    ByteBuilder header(order);
    putFeature(header, kFeatureHostname, ByteBuilder(order).putString("host").bytes());
    putFeature(header, kFeatureNrCpus, ByteBuilder(order).put(uint32_t{8}).put(uint32_t{4}).bytes());
    // What follows a TRACING_DATA record looks like a record without a size.
    header.putRecord(kRecordHeaderTracingData, ByteBuilder(order).put(uint32_t{24}).bytes()).zeros(24);
    ByteBuilder id(order);
    id.put(int32_t{-1}).put(Bytes(20, 0xcd)).put(Bytes{20, 0, 0, 0}).put(Bytes{'/', 'x', 0, 0, 0, 0, 0, 0});
    header.putRecord(kRecordHeaderBuildId, id.bytes(), PERF_RECORD_MISC_USER | kMiscBuildIdSize);
    const Bytes bytes = pipeBytes(exampleRecording(order), header.bytes());
    const auto reader = Reader::fromBytes(bytes, "FILE");
    EXPECT_EQ(reader->features().hostname, "host");
    EXPECT_EQ(reader->features().cpusAvailable, 8u);
    EXPECT_EQ(reader->features().cpusOnline, 4u);
    ASSERT_EQ(reader->features().buildIds.size(), 1u);
    EXPECT_EQ(reader->features().buildIds[0].path, "/x");
    EXPECT_EQ(reader->features().buildIds[0].buildId.size(), 40u);
    Collector got;
    reader->readAll(got);
    EXPECT_EQ(described(got), expected());
    EXPECT_EQ(reader->recordCounts()[kRecordHeaderAttr], 2u);
    EXPECT_EQ(reader->recordCounts()[kRecordHeaderFeature], 2u);
    EXPECT_EQ(reader->recordCounts()[kRecordHeaderTracingData], 1u);
  }
}

TEST(Forms, FieldsNewerThanKnownAreSaidAndPassedOver) {
  RecordBuilder b;
  perf_event_attr attr = clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_DATA_SRC);
  b.event(attr, "event");
  attr.sample_type |= 1ull << 25;
  RecordBuilder newer;
  newer.event(attr, "event");
  ByteBuilder body;
  for (const uint64_t word : {0x1234ull, 77ull, 0x42ull, 0x999ull}) body.put(uint64_t{word});
  newer.raw(PERF_RECORD_SAMPLE, 0, body.bytes());
  const Bytes bytes = fileBytes(newer);
  const auto reader = Reader::fromBytes(bytes, "FILE");
  Collector got;
  reader->readAll(got);
  ASSERT_EQ(got.samples.size(), 1u);
  EXPECT_EQ(got.samples[0].ip, 0x1234u);
  EXPECT_EQ(got.samples[0].time, 77u);
  EXPECT_EQ(got.samples[0].dataSource, 0x42u);
  EXPECT_EQ(reader->warnings().size(), 1u);
  EXPECT_TRUE(warns(*reader, "sample_type 0x2000000"));
}

/// A folder in directory format: the example's records without samples in `data`, its samples in `count`
/// files, a file a CPU.
void writeDirectory(const TempFolder& folder, uint32_t files, uint64_t samples) {
  const uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  RecordBuilder header;
  header.event(clockAttr(type), "clock").thread(5, 5).comm("worker").finishedRound();
  const Bytes version = ByteBuilder().put(uint64_t{1}).bytes();
  writeBytes(folder / "data", fileBytes(header, {.features = {{kFeatureDirFormat, version}}}));
  for (uint32_t file = 0; file < files; ++file) {
    RecordBuilder b;
    b.event(clockAttr(type)).cpu(file).thread(5, 5);
    for (uint64_t i = file; i < samples; i += files) b.at(100 + i).sample({.ip = i});
    writeBytes(folder / ("data." + std::to_string(file)), b.records());
  }
}

std::vector<uint64_t> ipsOf(const std::string& path, std::vector<std::string>* warnings = nullptr) {
  const auto reader = Reader::open(path);
  Collector got;
  reader->readAll(got);
  EXPECT_EQ(got.kinds().substr(0, 1), "C") << "what the recorder made up comes first";
  std::vector<uint64_t> ips;
  for (const auto& s : got.samples) ips.push_back(s.ip);
  EXPECT_EQ(reader->recordCounts()[PERF_RECORD_SAMPLE], ips.size());
  if (warnings != nullptr) *warnings = reader->warnings();
  return ips;
}

TEST(Forms, FoldersOfManyFilesComeOutInTimeOrder) {
  TempFolder folder;
  // Larger than a turn of a file: 300,000 records of 40 bytes.
  writeDirectory(folder, 2, 300'000);
  writeBytes(folder / "data.17", {});  // a thread that recorded nothing
  writeBytes(folder / "data.x", {1, 2, 3});
  std::vector<uint64_t> wanted(300'000);
  for (uint64_t i = 0; i < wanted.size(); ++i) wanted[i] = i;
  std::vector<std::string> warnings;
  EXPECT_EQ(ipsOf(folder / "", &warnings), wanted);
  EXPECT_TRUE(warnings.empty()) << warnings.front();
  EXPECT_EQ(ipsOf(folder / "data"), wanted) << "the folder's header file stands for the folder";
}

TEST(Forms, AFileOfAFolderThatIsNotInOrderIsOrdered) {
  TempFolder folder;
  writeDirectory(folder, 3, 600);
  // One thread that emptied two buffers, one after the other.
  Bytes second = readBytes(folder / "data.2"), first = readBytes(folder / "data.1");
  second.insert(second.end(), first.begin(), first.end());
  writeBytes(folder / "data.2", second);
  std::filesystem::remove(folder / "data.1");
  std::vector<uint64_t> wanted(600);
  for (uint64_t i = 0; i < wanted.size(); ++i) wanted[i] = i;
  std::vector<std::string> warnings;
  EXPECT_EQ(ipsOf(folder / "", &warnings), wanted);
  EXPECT_TRUE(warnings.empty()) << warnings.front();
}

TEST(Forms, FoldersThatAreNotWholeSaySo) {
  TempFolder folder;
  EXPECT_THROW(Reader::open(folder / ""), Error);
  writeDirectory(folder, 2, 100);
  Bytes cut = readBytes(folder / "data.1");
  cut.resize(cut.size() - 5);
  writeBytes(folder / "data.1", cut);
  std::vector<std::string> warnings;
  EXPECT_EQ(ipsOf(folder / "", &warnings).size(), 99u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("data.1: the record at file offset " + std::to_string(cut.size() - 35)),
            std::string::npos)
      << warnings[0];

  std::filesystem::remove(folder / "data.0");
  std::filesystem::remove(folder / "data.1");
  ipsOf(folder / "data", &warnings);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("no files data.0"), std::string::npos);
  const Bytes header = readBytes(folder / "data");
  EXPECT_TRUE(warns(*Reader::fromBytes(header, "FILE"), "directory format"));
}

TEST(Forms, TheFirstFormatSaysWhatItIs) {
  Bytes bytes(200);
  std::memcpy(bytes.data(), "PERFFILE", 8);
  try {
    Reader::fromBytes(bytes, "FILE");
    FAIL() << "a file of the first format was opened";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("PERFFILE"), std::string::npos) << error.what();
  }
}

TEST(Forms, AStreamThatStopsWithinARoundIsNotSilent) {
  const RecordBuilder whole = exampleRecording();
  const Bytes bytes = pipeBytes(whole);
  const Bytes cut(bytes.begin(), bytes.end() - 8);  // the last round's end
  const auto reader = Reader::fromBytes(cut, "FILE");
  Collector got;
  reader->readAll(got);
  EXPECT_EQ(described(got), expected());
  EXPECT_TRUE(warns(*reader, "within a round"));
}

}  // namespace
}  // namespace cacheline::perfdata::testing
