// What Writer wrote, Reader reads: records of every kind, events, features.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "perfdata/reader.h"
#include "record_builder.h"
#include "test_support.h"

namespace cacheline::perfdata::testing {
namespace {

TEST(RoundTrip, RecordsOfEveryKind) {
  RecordBuilder b;
  b.event(clockAttr(), "cpu-clock:u", {11, 12});
  b.thread(100, 100).cpu(1).at(1000).comm("worker", true);
  b.at(1010).mmap2({.address = 0x400000,
                    .length = 0x2000,
                    .pageOffset = 0x1000,
                    .major = 8,
                    .minor = 1,
                    .inode = 77,
                    .generation = 5,
                    .file = "/usr/bin/worker"});
  b.at(1020).mmap2(
      {.address = 0x500000, .length = 0x1000, .file = "/lib/x.so", .buildId = {0xab, 0xcd, 0xef, 0x01}});
  b.at(1030).mmap({.address = 0x7000,
                   .length = 0x1000,
                   .misc = PERF_RECORD_MISC_MMAP_DATA | PERF_RECORD_MISC_USER,
                   .file = "//anon"});
  b.at(1035).mmap({.address = 0xffffffff81000000,
                   .length = 0x1000000,
                   .misc = PERF_RECORD_MISC_KERNEL,
                   .file = "[kernel.kallsyms]_text"});
  b.at(1040).fork(100, 101);
  b.thread(100, 101).at(1050).sample(
      {.ip = 0x400123, .period = 2004008, .registers = {{kRegAx, 7}, {kRegSp, 0x7ffe0}, {kRegR15, 15}}});
  b.at(1060).lost(3).at(1070).lostSamples(4).at(1080).exit().finishedRound();

  TempFolder folder;
  b.write(folder / "perf.data");
  const auto reader = Reader::open(folder / "perf.data");
  Collector got;
  reader->readAll(got);

  EXPECT_EQ(got.kinds(), "CMMMMFSLLE");
  EXPECT_TRUE(reader->warnings().empty()) << reader->warnings().front();
  ASSERT_EQ(reader->events().size(), 1u);
  EXPECT_EQ(reader->events()[0].name, "cpu-clock:u");
  EXPECT_EQ(reader->events()[0].ids, (std::vector<uint64_t>{11, 12}));
  EXPECT_EQ(reader->events()[0].attr.sample_regs_intr, kX86SampleRegs);

  EXPECT_EQ(got.comms[0].text, "worker");
  EXPECT_TRUE(got.comms[0].exec);
  EXPECT_EQ(got.comms[0].time, 1000u);
  EXPECT_EQ(got.comms[0].pid, 100u);

  const auto& map = got.mmaps[0];
  EXPECT_EQ(map.path, "/usr/bin/worker");
  EXPECT_EQ(map.address, 0x400000u);
  EXPECT_EQ(map.length, 0x2000u);
  EXPECT_EQ(map.pageOffset, 0x1000u);
  EXPECT_EQ(map.major, 8u);
  EXPECT_EQ(map.minor, 1u);
  EXPECT_EQ(map.inode, 77u);
  EXPECT_EQ(map.inodeGeneration, 5u);
  EXPECT_EQ(map.protection, uint32_t{PROT_READ | PROT_EXEC});
  EXPECT_EQ(map.flags, uint32_t{MAP_PRIVATE});
  EXPECT_EQ(map.buildId, "");
  EXPECT_FALSE(map.data);
  EXPECT_FALSE(map.kernel);
  EXPECT_EQ(got.mmaps[1].buildId, "abcdef01");
  EXPECT_EQ(got.mmaps[1].inode, 0u);
  EXPECT_EQ(got.mmaps[1].path, "/lib/x.so");
  EXPECT_TRUE(got.mmaps[2].data);
  EXPECT_EQ(got.mmaps[2].path, "//anon");
  EXPECT_TRUE(got.mmaps[3].kernel);
  EXPECT_EQ(got.mmaps[3].protection, uint32_t{PROT_EXEC});

  EXPECT_EQ(got.forks[0].pid, 100u);
  EXPECT_EQ(got.forks[0].tid, 101u);
  EXPECT_EQ(got.forks[0].parentTid, 100u);
  EXPECT_EQ(got.forks[0].time, 1040u);
  EXPECT_EQ(got.exits[0].tid, 101u);

  const auto& s = got.samples[0];
  EXPECT_EQ(s.ip, 0x400123u);
  EXPECT_EQ(s.pid, 100u);
  EXPECT_EQ(s.tid, 101u);
  EXPECT_EQ(s.time, 1050u);
  EXPECT_EQ(s.cpu, 1u);
  EXPECT_EQ(s.period, 2004008u);
  EXPECT_EQ(s.misc, PERF_RECORD_MISC_USER);
  EXPECT_EQ(s.registers.mask, kX86SampleRegs);
  EXPECT_EQ(s.registers.value[kRegAx], 7u);
  EXPECT_EQ(s.registers.value[kRegSp], 0x7ffe0u);
  EXPECT_EQ(s.registers.value[kRegR15], 15u);
  EXPECT_EQ(s.registers.value[kRegDx], 0u);

  EXPECT_EQ(got.lost[0].count, 3u);
  EXPECT_EQ(got.lost[1].count, 4u);
  EXPECT_EQ(got.lost[1].time, 1070u);

  const auto& counts = reader->recordCounts();
  EXPECT_EQ(counts[PERF_RECORD_SAMPLE], 1u);
  EXPECT_EQ(counts[PERF_RECORD_MMAP], 2u);
  EXPECT_EQ(counts[PERF_RECORD_MMAP2], 2u);
  EXPECT_EQ(counts[kRecordFinishedRound], 1u);
}

Features everyFeature() {
  Features f;
  f.hostname = "host";
  f.osRelease = "6.18.0";
  f.version = "0.1.0";
  f.arch = "x86_64";
  f.cpuDesc = "A CPU";
  f.cpuId = "GenuineIntel,6,207,2";
  f.cpusAvailable = 3;
  f.cpusOnline = 2;
  f.totalMemKb = 123456;
  f.cmdline = {"cacheline", "record", "--", std::string(63, 'x'), std::string(64, 'y'), ""};
  f.coreSiblings = {"0-1"};
  f.threadSiblings = {"0", "1"};
  f.dieSiblings = {"0-1"};
  f.cpuPlaces = {{0, 0, 0}, {1, 0, 0}};
  f.numaNodes = {{0, 1000, 500, "0"}, {1, 2000, 900, "1"}};
  f.memoryNodes = {{0, {{0, 0x10000000}, {0x18000000, 0x20000000}}}, {1, {{0x20000000, 0x60000000}}}};
  f.pmuMappings = {{1, "software"}, {5, "breakpoint"}};
  f.buildIds = {{-1, "0123456789abcdef0123456789abcdef01234567", "/usr/bin/worker", false},
                {-1, "c0ffee", "[kernel.kallsyms]", true}};
  f.sampleTime = {5, 9};
  f.clockResolutionNs = 1;
  return f;
}

TEST(RoundTrip, EveryFeature) {
  const Features in = everyFeature();
  RecordBuilder b;
  b.event(clockAttr(), "cpu-clock:u", {1}).at(5).sample({});
  TempFolder folder;
  b.write(folder / "perf.data", in);
  const auto reader = Reader::open(folder / "perf.data");
  const Features& out = reader->features();
  EXPECT_TRUE(reader->warnings().empty()) << reader->warnings().front();
  EXPECT_EQ(out.hostname, in.hostname);
  EXPECT_EQ(out.osRelease, in.osRelease);
  EXPECT_EQ(out.version, in.version);
  EXPECT_EQ(out.arch, in.arch);
  EXPECT_EQ(out.cpuDesc, in.cpuDesc);
  EXPECT_EQ(out.cpuId, in.cpuId);
  EXPECT_EQ(out.cpusAvailable, 3u);
  EXPECT_EQ(out.cpusOnline, 2u);
  EXPECT_EQ(out.totalMemKb, in.totalMemKb);
  EXPECT_EQ(out.cmdline, in.cmdline);
  EXPECT_EQ(out.coreSiblings, in.coreSiblings);
  EXPECT_EQ(out.threadSiblings, in.threadSiblings);
  EXPECT_EQ(out.dieSiblings, in.dieSiblings);
  ASSERT_EQ(out.cpuPlaces.size(), 3u);  // one a CPU that exists; the third's place is not known
  EXPECT_EQ(out.cpuPlaces[1].core, 1);
  EXPECT_EQ(out.cpuPlaces[1].die, 0);
  EXPECT_EQ(out.cpuPlaces[2].core, -1);
  EXPECT_EQ(out.cpuPlaces[2].die, -1);
  ASSERT_EQ(out.numaNodes.size(), 2u);
  EXPECT_EQ(out.numaNodes[1].node, 1u);
  EXPECT_EQ(out.numaNodes[1].memTotalKb, 2000u);
  EXPECT_EQ(out.numaNodes[1].memFreeKb, 900u);
  EXPECT_EQ(out.numaNodes[1].cpus, "1");
  ASSERT_EQ(out.memoryNodes.size(), 2u);
  EXPECT_EQ(out.memoryNodes[0].ranges, in.memoryNodes[0].ranges);
  EXPECT_EQ(out.memoryNodes[1].node, 1u);
  EXPECT_EQ(out.memoryNodes[1].ranges, in.memoryNodes[1].ranges);
  EXPECT_EQ(out.pmuMappings, in.pmuMappings);
  ASSERT_EQ(out.buildIds.size(), 2u);
  EXPECT_EQ(out.buildIds[0].buildId, in.buildIds[0].buildId);
  EXPECT_EQ(out.buildIds[0].path, in.buildIds[0].path);
  EXPECT_EQ(out.buildIds[0].pid, -1);
  EXPECT_FALSE(out.buildIds[0].kernel);
  EXPECT_EQ(out.buildIds[1].buildId, "c0ffee");
  EXPECT_TRUE(out.buildIds[1].kernel);
  EXPECT_EQ(out.sampleTime, in.sampleTime);
  EXPECT_EQ(out.clockResolutionNs, in.clockResolutionNs);
  EXPECT_EQ(reader->events()[0].name, "cpu-clock:u");
}

TEST(RoundTrip, FeaturesWithoutDataAreNotWritten) {
  RecordBuilder b;
  b.event(clockAttr()).at(5).sample({});
  TempFolder folder;
  b.write(folder / "perf.data");
  const auto bytes = readBytes(folder / "perf.data");
  for (size_t i = 72; i < 104; ++i) EXPECT_EQ(bytes[i], 0) << "feature bits, byte " << i;
  EXPECT_EQ(Reader::open(folder / "perf.data")->features().sampleTime, std::nullopt);
}

TEST(RoundTrip, AFinishedRecordingWithoutRecordsIsNotACutOne) {
  RecordBuilder b;
  b.event(clockAttr(), "cpu-clock:u", {1});
  TempFolder folder;
  b.write(folder / "perf.data", everyFeature());
  const auto reader = Reader::open(folder / "perf.data");
  Collector got;
  reader->readAll(got);
  EXPECT_TRUE(got.order.empty());
  EXPECT_TRUE(reader->warnings().empty()) << reader->warnings().front();
  EXPECT_EQ(reader->features().hostname, "host");
}

TEST(RoundTrip, SeveralEventsAreToldApartByIdentifier) {
  RecordBuilder b;
  b.event(clockAttr(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TIME), "first", {1, 2});
  b.event(clockAttr(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                    PERF_SAMPLE_CPU),
          "second", {257, 258});
  b.thread(7, 8);
  for (uint32_t cpu = 0; cpu < 2; ++cpu) {
    b.cpu(cpu)
        .use(0)
        .at(10 + cpu)
        .sample({.ip = 0x10 + cpu})
        .use(1)
        .at(20 + cpu)
        .sample({.address = 0x20 + cpu})
        .comm("c");
  }
  TempFolder folder;
  b.write(folder / "perf.data");
  const auto reader = Reader::open(folder / "perf.data");
  Collector got;
  reader->readAll(got);
  ASSERT_EQ(got.samples.size(), 4u);
  EXPECT_TRUE(reader->warnings().empty()) << reader->warnings().front();
  EXPECT_EQ(got.samples[0].event, 0);
  EXPECT_EQ(got.samples[0].ip, 0x10u);
  EXPECT_EQ(got.samples[0].tid, 0u);
  EXPECT_EQ(got.samples[1].ip, 0x11u);
  EXPECT_EQ(got.samples[2].event, 1);
  EXPECT_EQ(got.samples[2].id, 257u);
  EXPECT_EQ(got.samples[2].ip, 0u) << "a field of the other event";
  EXPECT_EQ(got.samples[2].address, 0x20u);
  EXPECT_EQ(got.samples[2].tid, 8u);
  EXPECT_EQ(got.samples[3].id, 258u);
  ASSERT_EQ(got.comms.size(), 2u);
  EXPECT_EQ(got.comms[1].time, 21u) << "the trailer of the second event is longer than the first one's";
}

TEST(RoundTrip, SeveralEventsAreToldApartById) {
  const uint64_t common =
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID;
  RecordBuilder b;
  b.event(clockAttr(common | PERF_SAMPLE_CPU), "first", {1})
      .event(clockAttr(common | PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT), "second", {2});
  b.use(1).at(10).sample({.weight = 99}).use(0).at(11).sample({.ip = 5});
  TempFolder folder;
  b.write(folder / "perf.data");
  Collector got;
  Reader::open(folder / "perf.data")->readAll(got);
  ASSERT_EQ(got.samples.size(), 2u);
  EXPECT_EQ(got.samples[0].event, 1);
  EXPECT_EQ(got.samples[0].weight, 99u);
  EXPECT_EQ(got.samples[1].event, 0);
  EXPECT_EQ(got.samples[1].weight, 0u);
}

TEST(RoundTrip, EventsThatCannotBeToldApartAreRefused) {
  RecordBuilder b;
  b.event(clockAttr(PERF_SAMPLE_IP), "first", {1}).event(clockAttr(PERF_SAMPLE_IP), "second", {2}).sample({});
  TempFolder folder;
  b.write(folder / "perf.data");
  try {
    Reader::open(folder / "perf.data");
    FAIL() << "two events without an identifier were accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unreadable);
    EXPECT_NE(std::string(error.what()).find("told apart"), std::string::npos) << error.what();
  }
}

TEST(RoundTrip, ASampleOfNoEventIsCountedAndSaid) {
  RecordBuilder b;
  b.event(clockAttr(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP), "a", {1})
      .event(clockAttr(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP), "b", {2});
  RecordBuilder other;
  other.event(clockAttr(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP), "c", {3}).sample({});
  b.sample({}).records().insert(b.records().end(), other.records().begin(), other.records().end());
  TempFolder folder;
  b.write(folder / "perf.data");
  const auto reader = Reader::open(folder / "perf.data");
  Collector got;
  reader->readAll(got);
  EXPECT_EQ(got.samples.size(), 1u);
  EXPECT_TRUE(warns(*reader, "1 samples carry an id that belongs to no event"));
  EXPECT_EQ(reader->recordCounts()[PERF_RECORD_SAMPLE], 2u);
}

TEST(RoundTrip, ReadAllTwiceGivesTheSameTwice) {
  RecordBuilder b;
  b.event(clockAttr()).at(5).sample({}).comm("x").raw(200, 0, {1, 2, 3});
  b.records().resize(b.records().size() - 3);  // and its warning once
  TempFolder folder;
  {
    auto writer = Writer::create(folder / "perf.data", b.events());
    writer->flush();
  }
  auto bytes = readBytes(folder / "perf.data");
  bytes.insert(bytes.end(), b.records().begin(), b.records().end());
  const auto reader = Reader::fromBytes(bytes, "two");
  Collector first, second;
  reader->readAll(first);
  const auto warnings = reader->warnings();
  const auto counts = reader->recordCounts();
  reader->readAll(second);
  EXPECT_EQ(first.order, second.order);
  EXPECT_EQ(first.order.size(), 2u);
  EXPECT_EQ(reader->warnings(), warnings);
  EXPECT_EQ(warnings.size(), 2u);  // not finished, and cut
  EXPECT_EQ(reader->recordCounts(), counts);
}

TEST(RoundTrip, UnknownRecordTypesAreSkippedAndCounted) {
  RecordBuilder b;
  b.event(clockAttr())
      .raw(55, 0, std::vector<uint8_t>(24))
      .raw(127, 0, {})
      .raw(128, 0, std::vector<uint8_t>(8))
      .raw(0xffffffff, 0, {});
  b.at(5).sample({});
  TempFolder folder;
  b.write(folder / "perf.data");
  const auto reader = Reader::open(folder / "perf.data");
  Collector got;
  reader->readAll(got);
  EXPECT_EQ(got.kinds(), "S");
  EXPECT_EQ(reader->recordCounts()[55], 1u);
  EXPECT_EQ(reader->recordCounts()[127], 3u);
  EXPECT_TRUE(reader->warnings().empty());
}

TEST(RoundTrip, TraceDataBehindAnAuxtraceRecordIsSkipped) {
  RecordBuilder b;
  b.event(clockAttr()).at(5).sample({.ip = 1});
  std::vector<uint8_t> body(40);
  body[0] = 64;  // bytes of trace data that follow
  b.raw(kRecordAuxtrace, 0, body);
  b.records().resize(b.records().size() + 64, 0xff);
  b.at(6).sample({.ip = 2});
  TempFolder folder;
  { Writer::create(folder / "perf.data", b.events()); }
  auto bytes = readBytes(folder / "perf.data");
  bytes.insert(bytes.end(), b.records().begin(), b.records().end());
  Collector got;
  Reader::fromBytes(bytes, "aux")->readAll(got);
  ASSERT_EQ(got.samples.size(), 2u);
  EXPECT_EQ(got.samples[1].ip, 2u);
}

TEST(RoundTrip, ProgressRisesToOneAndCanCancel) {
  RecordBuilder b;
  b.event(clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TIME));
  for (uint64_t i = 1; i <= 5000; ++i) b.at(i).sample({.ip = i});
  TempFolder folder;
  b.write(folder / "perf.data");
  const auto reader = Reader::open(folder / "perf.data");
  Collector got;
  std::vector<double> shares;
  reader->readAll(got, [&](double share) {
    shares.push_back(share);
    return true;
  });
  EXPECT_GE(shares.size(), 95u);
  EXPECT_LE(shares.size(), 105u);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1);
  EXPECT_EQ(got.samples.size(), 5000u);

  int calls = 0;
  try {
    reader->readAll(got, [&](double) { return ++calls < 3; });
    FAIL() << "not cancelled";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
  }
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace cacheline::perfdata::testing
