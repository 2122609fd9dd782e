// Sessions: what AUXTRACE_INFO says, clocks, threads, the merge of all buffers, and what is told of damage.
#include <gtest/gtest.h>

#include "base/error.h"
#include "spe/session.h"
#include "spe_builder.h"

namespace cacheline::spe::testing {
namespace {

constexpr uint64_t kMagic = 0x1010101010101010;
constexpr TimeConversion kClock{.shift = 10, .mult = 40960, .zero = 1000};  // 40 ns a tick

std::vector<SpeSample> samplesOf(SpeSession& session) {
  std::vector<SpeSample> samples;
  SpeSample sample;
  while (session.next(sample)) samples.push_back(sample);
  EXPECT_FALSE(session.next(sample)) << "the end stays the end";
  return samples;
}

SpeBuilder& access(SpeBuilder& b, uint64_t ticks, uint64_t address) {
  return b.pc(0x400000, 0).virtualAddress(address).load().total(7).timestamp(ticks);
}

bool says(const SpeSession& session, const std::string& text) {
  for (const std::string& warning : session.warnings())
    if (warning.find(text) != std::string::npos) return true;
  return false;
}

TEST(Info, Version1NamesNoModels) {
  const uint64_t words[] = {9, 1};
  const SpeInfo info = readInfo(words, 0);
  EXPECT_EQ(info.version, 1u);
  EXPECT_EQ(info.pmuType, 9u);
  EXPECT_EQ(info.midrOf(3, 0x410fd0c0), 0x410fd0c0u);
}

TEST(Info, Version2NamesTheModelOfEachCpu) {
  const uint64_t words[] = {2,      4, 9, 3,          kMagic, 1,    3, 0x410fd490, 9, 1024,
                            kMagic, 0, 4, 0x410fd0b0, 9,      1024, 0, kMagic,     7, 0};
  const SpeInfo info = readInfo(words, 0);
  EXPECT_EQ(info.version, 2u);
  EXPECT_EQ(info.midrOf(0, 77), 0x410fd0b0u);
  EXPECT_EQ(info.midrOf(1, 77), 0x410fd490u);
  EXPECT_EQ(info.midrOf(7, 77), 0u);
  EXPECT_EQ(info.midrOf(2, 77), 0u) << "not named";
  EXPECT_EQ(info.midrOf(-1, 77), 0u) << "they differ";
  const uint64_t same[] = {3, 5, 9, 2, 0xabc, kMagic, 0, 1, 0x410fd4f0, kMagic, 1, 1, 0x410fd4f0};
  EXPECT_EQ(readInfo(same, 0).midrOf(-1, 77), 0x410fd4f0u) << "a longer header of a later version";
}

TEST(Info, SizesThatLieAreErrors) {
  const std::vector<std::vector<uint64_t>> lies = {
      {},
      {9},
      {2, 4, 9},
      {2, 3, 9, 0},
      {2, 5, 9, 0},
      {1, 4, 9, 0},
      {2, 4, 9, 1},
      {2, ~uint64_t{0}, 9, 1},
      {2, 4, 9, ~uint64_t{0}, kMagic, 0, 0},
      {2, 4, 9, 1, kMagic, 0, 1},
      {2, 4, 9, 1, kMagic, 0, ~uint64_t{0}},
      {2, 4, 9, 1, kMagic + 1, 0, 0},
      {2, 4, 9, 1, kMagic, uint64_t{1} << 40, 0},
  };
  for (const auto& words : lies) {
    try {
      readInfo(words, 4711);
      ADD_FAILURE() << words.size() << " words";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unreadable);
      EXPECT_NE(std::string(error.what()).find("file offset 4711"), std::string::npos) << error.what();
      EXPECT_FALSE(error.nextStep().empty());
    }
  }
}

TEST(Time, IsTheKernelsFormula) {
  EXPECT_EQ(kClock.time(0), 1000u);
  EXPECT_EQ(kClock.time(25), 2000u);
  const TimeConversion fine{.shift = 32, .mult = 0xf0000001, .zero = 5};
  EXPECT_EQ(fine.time(0x1'ffff'ffff), 5 + 0xf0000001 + ((uint64_t{0xffffffff} * 0xf0000001) >> 32));
  const TimeConversion narrow{
      .shift = 0, .mult = 1, .zero = 0, .cycles = 0x1'0000'1000, .mask = 0xffffffff, .shortCounter = true};
  EXPECT_EQ(narrow.time(0x2000), 0x1'0000'2000u) << "the counter has wrapped once";
  EXPECT_EQ(narrow.time(0x0fff), 0x2'0000'0fffu) << "and once more";
}

TEST(Time, AConversionOfNoKernelIsAnError) {
  for (const TimeConversion& wrong :
       {TimeConversion{.shift = 33, .mult = 1}, TimeConversion{.shift = 10, .mult = 0},
        TimeConversion{.shift = ~uint64_t{0}, .mult = 1},
        TimeConversion{.shift = 1, .mult = uint64_t{1} << 32}})
    EXPECT_THROW(SpeSession({}, {.midr = 0, .time = wrong}), Error);
}

TEST(Sessions, MergeAllCpusByTime) {
  SpeBuilder even, odd, later;
  for (uint64_t i = 0; i < 50; ++i) access(i % 2 == 0 ? even : odd, 100 + i, 64 * i);
  access(access(later, 150, 64 * 50), 151, 64 * 51);
  SpeSession session({}, {.midr = 0, .time = kClock});
  session.addChunk({.cpu = 1, .bytes = odd.bytes()});
  session.addChunk({.cpu = 0, .bytes = even.bytes()});
  session.addChunk({.cpu = 0, .offset = even.bytes().size(), .bytes = later.bytes()});
  const auto samples = samplesOf(session);
  ASSERT_EQ(samples.size(), 52u);
  for (uint64_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(samples[i].time, kClock.time(100 + i));
    EXPECT_EQ(samples[i].address, 64 * i);
    EXPECT_EQ(samples[i].cpu, i < 50 && i % 2 == 1 ? 1 : 0);
  }
  EXPECT_EQ(session.counts().chunks, 3u);
  EXPECT_EQ(session.counts().bytes, even.bytes().size() + odd.bytes().size() + later.bytes().size());
  EXPECT_EQ(session.counts().samples, 52u);
  EXPECT_EQ(session.counts().withoutThread, 52u);
}

TEST(Sessions, ASampleHoldsWhatTheRecordSays) {
  SpeBuilder b;
  b.pc(0xffff800000001000, 1)
      .virtualAddress(0xffff000000002000)
      .physicalAddress(0x8000)
      .total(500)
      .issue(40)
      .translation(3)
      .context(12)
      .store(0x06)
      .events(kEventL1dAccess)
      .timestamp(25);
  b.pc(0x1000, 3, false).branch().timestamp(26);
  b.load().timestamp(27);
  SpeSession session({}, {.midr = 0, .time = kClock});
  session.addThread({.time = 0, .pid = 10, .tid = 12});
  session.addChunk({.cpu = 3, .bytes = b.bytes()});
  const auto samples = samplesOf(session);
  ASSERT_EQ(samples.size(), 2u);
  const SpeSample& s = samples[0];
  EXPECT_EQ(s.time, 2000u);
  EXPECT_EQ(s.pid, 10);
  EXPECT_EQ(s.tid, 12);
  EXPECT_EQ(s.cpu, 3);
  EXPECT_EQ(s.ip, 0xffff800000001000u);
  EXPECT_EQ(s.address, 0xffff000000002000u);
  EXPECT_EQ(s.physicalAddress, 0x8000u);
  EXPECT_EQ(s.weight, 500u);
  EXPECT_EQ(s.issueLatency, 40u);
  EXPECT_EQ(s.translationLatency, 3u);
  EXPECT_EQ(s.operation.flags, kAtomic);
  EXPECT_EQ(s.events, kEventL1dAccess);
  EXPECT_EQ(s.cpuMode, 1) << "PERF_RECORD_MISC_KERNEL";
  EXPECT_NE(s.dataSource, 0u);
  EXPECT_EQ(samples[1].cpuMode, 0) << "no PC, no mode";
  EXPECT_EQ(session.counts().otherOperations, 1u);
  EXPECT_EQ(session.counts().withoutAddress, 1u);
}

TEST(Sessions, EachCpuHasTheDataSourcesOfItsModel) {
  SpeInfo info;
  info.version = 2;
  info.cpus = {{0, 0x410fd0b0}, {1, 0x410fd4f0}};
  SpeBuilder b;
  b.load().dataSource(kArmDram).end();
  SpeSession session(info, {.midr = 0x410fd0c0, .time = {}});
  session.addChunk({.cpu = 0, .bytes = b.bytes()});
  session.addChunk({.cpu = 1, .bytes = b.bytes()});
  const auto samples = samplesOf(session);
  ASSERT_EQ(samples.size(), 2u);
  SpeRecord record;
  record.operation.kind = OperationClass::load;
  record.parts = kPartDataSource;
  record.dataSource = kArmDram;
  for (const SpeSample& sample : samples)
    EXPECT_EQ(sample.dataSource,
              dataSourceWord(record, sample.cpu == 1 ? SourceMeaning::arm : SourceMeaning::events));
}

TEST(Sessions, ContextsNameTheThreadBeforeSwitchesDo) {
  SpeBuilder b;
  b.load().context(5, 1).timestamp(10);
  b.load().context(5, 1).context(6, 2).timestamp(20);
  b.load().timestamp(30);
  b.load().timestamp(40);
  SpeSession session({}, {.midr = 0, .time = kClock});
  session.addChunk({.cpu = 0, .bytes = b.bytes()});
  session.addSwitch({.time = kClock.time(35), .cpu = 0, .pid = 70, .tid = 71});
  session.addSwitch({.time = kClock.time(35), .cpu = 1, .pid = 90, .tid = 91});
  session.addSwitch({.time = kClock.time(25), .cpu = 0, .pid = -1, .tid = -1});
  session.addSwitch({.time = kClock.time(5), .cpu = 0, .pid = 80, .tid = 81});
  const auto samples = samplesOf(session);
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_EQ(samples[0].tid, 5);
  EXPECT_EQ(samples[0].pid, -1) << "its process was never named";
  EXPECT_EQ(samples[1].tid, 6) << "EL2 is the host";
  EXPECT_EQ(samples[2].tid, -1);
  EXPECT_EQ(samples[3].tid, 71);
  EXPECT_EQ(samples[3].pid, 70);
  EXPECT_EQ(session.counts().withoutThread, 1u);
}

TEST(Sessions, AThreadIdThatIsReusedBelongsToTheProcessOfItsTime) {
  SpeBuilder b;
  for (const uint64_t ticks : {10u, 20u, 30u}) b.load().context(5).timestamp(ticks);
  SpeSession session({}, {.midr = 0, .time = kClock});
  session.addChunk({.cpu = 0, .bytes = b.bytes()});
  session.addThread({.time = kClock.time(15), .pid = 100, .tid = 5});
  session.addThread({.time = kClock.time(25), .pid = 200, .tid = 5});
  const auto samples = samplesOf(session);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].pid, 100) << "the first that is known";
  EXPECT_EQ(samples[1].pid, 100);
  EXPECT_EQ(samples[2].pid, 200);
}

TEST(Sessions, PerThreadRecordingsTakeTheCpuOfTheirAuxRecords) {
  SpeBuilder first, second;
  first.load().timestamp(10);
  second.load().timestamp(20);
  SpeSession session({}, {.midr = 0, .time = kClock});
  const uint64_t size = first.bytes().size();
  session.addChunk({.tid = 41, .offset = 0, .bytes = first.bytes()});
  session.addChunk({.tid = 41, .offset = size, .bytes = second.bytes()});
  session.addChunk({.tid = 42, .offset = 0, .bytes = second.bytes()});
  session.addAux({.cpu = 7, .tid = 41, .time = 5000, .offset = size, .size = size});
  session.addAux({.cpu = 2, .tid = 41, .time = 3000, .offset = 0, .size = size});
  const auto samples = samplesOf(session);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].tid, 41);
  EXPECT_EQ(samples[0].cpu, 2);
  EXPECT_EQ(samples[1].cpu, 7);
  EXPECT_EQ(samples[2].tid, 42);
  EXPECT_EQ(samples[2].cpu, -1);
}

TEST(Sessions, WithoutTimestampsTheAuxRecordsTimeStandsIn) {
  SpeBuilder b, other;
  b.load().end().load().end();
  access(other, 100, 0x40);  // at 5000 ns
  SpeSession session({}, {.midr = 0, .time = kClock});
  session.addChunk({.cpu = 0, .offset = 64, .bytes = b.bytes()});
  session.addChunk({.cpu = 1, .bytes = other.bytes()});
  session.addAux({.cpu = 0, .tid = 1, .time = 9000, .offset = 64, .size = 64});
  const auto samples = samplesOf(session);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[0].time, 5000u);
  EXPECT_EQ(samples[1].time, 9000u);
  EXPECT_EQ(samples[2].time, 9000u);
  EXPECT_EQ(session.counts().withoutTimestamp, 2u);
  EXPECT_TRUE(says(session, "ts_enable=1"));
}

TEST(Sessions, WithoutATimeConversionNoTimestampIsOfUse) {
  SpeBuilder b;
  access(b, 100, 0x40);
  SpeSession session({}, {});
  session.addChunk({.cpu = 0, .bytes = b.bytes()});
  session.addAux({.cpu = 0, .tid = 1, .time = 9000, .offset = 0, .size = 64});
  ASSERT_EQ(samplesOf(session).size(), 1u);
  EXPECT_TRUE(says(session, "lacks TIME_CONV"));
}

TEST(Sessions, DamageIsToldWithItsPlace) {
  SpeBuilder good, bad, cut;
  access(good, 10, 0x40);
  access(bad.raw({0xff}), 20, 0x80);
  access(cut, 30, 0xc0).pc(1, 0);
  SpeSession session({}, {.midr = 0, .time = kClock});
  session.addChunk({.cpu = 0, .fileOffset = 1000, .bytes = good.bytes()});
  session.addChunk({.cpu = 0, .fileOffset = 2000, .bytes = bad.bytes()});
  session.addChunk({.cpu = 0, .fileOffset = 3000, .bytes = cut.bytes()});
  EXPECT_EQ(samplesOf(session).size(), 3u);
  EXPECT_EQ(session.counts().decode.badBytes, 1u);
  EXPECT_EQ(session.counts().decode.truncatedRecords, 1u);
  EXPECT_TRUE(says(session, "first at file offset 2000: 1 byte outside of packets, 0 records"));
  EXPECT_TRUE(says(session, "in 1 place: 9 bytes"));
}

TEST(Sessions, LostDataIsTold) {
  SpeSession session({}, {});
  session.addAux({.cpu = 0, .flags = 1});
  session.addAux({.cpu = 0, .size = 64, .flags = 8});
  session.addAux({.cpu = 0, .size = 64, .flags = 9});
  EXPECT_EQ(samplesOf(session).size(), 0u);
  EXPECT_EQ(session.counts().truncatedAux, 2u);
  EXPECT_EQ(session.counts().collidedAux, 2u);
  EXPECT_TRUE(says(session, "2 times"));
  EXPECT_TRUE(says(session, "collided and are missing in 2 pieces"));
}

TEST(Sessions, ARecordingWithoutFaultsWarnsOfNothing) {
  SpeBuilder b;
  access(b.context(5), 10, 0x40).pad(32);
  SpeSession session({}, {.midr = 0, .time = kClock});
  session.addChunk({.cpu = 0, .bytes = b.bytes()});
  session.addChunk({.cpu = 1, .bytes = {}});
  EXPECT_EQ(samplesOf(session).size(), 1u);
  EXPECT_TRUE(session.warnings().empty());
}

TEST(Sessions, ClocksThatGoBackAreCounted) {
  SpeBuilder b;
  access(access(access(b, 30, 0), 10, 0), 40, 0);
  SpeSession session({}, {.midr = 0, .time = kClock});
  session.addChunk({.cpu = 0, .bytes = b.bytes()});
  EXPECT_EQ(samplesOf(session).size(), 3u);
  EXPECT_EQ(session.counts().outOfOrder, 1u);
  EXPECT_TRUE(says(session, "go back before 1 sample."));
}

}  // namespace
}  // namespace cacheline::spe::testing
