// Time order across ring buffers and rounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "perfdata/bytes.h"
#include "perfdata/reader.h"
#include "perfdata/sorter.h"
#include "record_builder.h"
#include "test_support.h"

namespace cacheline::perfdata::testing {
namespace {

constexpr uint64_t kType = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

Collector readBuilt(const RecordBuilder& b, std::vector<std::string>* warnings = nullptr) {
  TempFolder folder;
  b.write(folder / "perf.data");
  const auto reader = Reader::open(folder / "perf.data");
  Collector got;
  reader->readAll(got);
  if (warnings != nullptr) *warnings = reader->warnings();
  return got;
}

std::vector<uint64_t> ips(const Collector& got) {
  std::vector<uint64_t> values;
  for (const auto& s : got.samples) values.push_back(s.ip);
  return values;
}

/// A recorder in small: CPUs record at random moments, and a reader that empties one buffer after the other
/// while they go on. Writes the file it would write; returns the ips (1, 2, ...) in the order of their
/// recording.
std::vector<uint64_t> simulate(RecordBuilder& b, uint32_t cpus, int rounds, std::mt19937_64& random) {
  struct Recorded {
    uint64_t time, ip;
  };
  std::vector<std::vector<Recorded>> buffers(cpus);
  std::vector<uint64_t> truth;
  uint64_t now = 1000;
  const auto record = [&](uint64_t count) {
    for (; count > 0; --count) {
      now += 1 + random() % 50;
      truth.push_back(truth.size() + 1);
      buffers[random() % cpus].push_back({now, truth.back()});
    }
  };
  for (int round = 0; round < rounds; ++round) {
    for (uint32_t cpu = 0; cpu < cpus; ++cpu) {
      record(random() % 40);
      for (const Recorded& r : buffers[cpu]) b.cpu(cpu).at(r.time).sample({.ip = r.ip});
      buffers[cpu].clear();
    }
    b.finishedRound();
  }
  for (uint32_t cpu = 0; cpu < cpus; ++cpu) {
    for (const Recorded& r : buffers[cpu]) b.cpu(cpu).at(r.time).sample({.ip = r.ip});
  }
  return truth;
}

TEST(Ordering, RoundsOfManyCpusComeOutInTimeOrder) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    std::mt19937_64 random(seed);
    RecordBuilder b;
    b.event(clockAttr(kType));
    const auto truth = simulate(b, 1 + static_cast<uint32_t>(seed % 9), 40, random);
    std::vector<std::string> warnings;
    EXPECT_EQ(ips(readBuilt(b, &warnings)), truth) << "seed " << seed;
    EXPECT_TRUE(warnings.empty()) << warnings.front();
  }
}

TEST(Ordering, AFileWithoutRoundsIsOneRound) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> times(5000);
  for (size_t i = 0; i < times.size(); ++i) times[i] = i + 1;
  std::vector<uint64_t> sorted = times;
  std::shuffle(times.begin(), times.end(), random);
  RecordBuilder b;
  b.event(clockAttr(kType));
  for (const uint64_t time : times) b.at(time).sample({.ip = time});
  EXPECT_EQ(ips(readBuilt(b)), sorted);
}

TEST(Ordering, ShuffledWithinEveryRound) {
  std::mt19937_64 random(2);
  RecordBuilder b;
  b.event(clockAttr(kType));
  std::vector<uint64_t> truth;
  for (uint64_t round = 0; round < 50; ++round) {
    std::vector<uint64_t> times(100);
    for (size_t i = 0; i < times.size(); ++i) {
      times[i] = round * 100 + i + 1;
      truth.push_back(times[i]);
    }
    std::shuffle(times.begin(), times.end(), random);
    for (const uint64_t time : times) b.at(time).sample({.ip = time});
    b.finishedRound();
  }
  EXPECT_EQ(ips(readBuilt(b)), truth);
}

TEST(Ordering, EqualTimesKeepTheFilesOrder) {
  RecordBuilder b;
  b.event(clockAttr(kType));
  std::vector<uint64_t> truth;
  for (uint64_t ip = 1; ip <= 300; ++ip) {
    b.at(7).sample({.ip = ip});
    truth.push_back(ip);
    if (ip % 100 == 0) b.finishedRound();
    if (ip % 70 == 0) b.at(6).comm("older");
  }
  EXPECT_EQ(ips(readBuilt(b)), truth);
}

TEST(Ordering, RecordsOfOtherKindsAreOrderedByTheirTrailer) {
  RecordBuilder b;
  b.event(clockAttr(kType));
  b.at(30)
      .sample({})
      .at(10)
      .comm("early")
      .at(40)
      .exit()
      .at(20)
      .mmap2({.file = "/x"})
      .at(25)
      .fork(2, 2)
      .at(50)
      .lost(1);
  const Collector got = readBuilt(b);
  EXPECT_EQ(got.kinds(), "CMFSEL");
}

TEST(Ordering, WithoutATimeTheFilesOrderHolds) {
  perf_event_attr attr = clockAttr(PERF_SAMPLE_IP);
  RecordBuilder b;
  b.event(attr)
      .sample({.ip = 3})
      .comm("a")
      .sample({.ip = 1})
      .finishedRound()
      .mmap({.file = "/x"})
      .sample({.ip = 2});
  EXPECT_EQ(readBuilt(b).kinds(), "SCSMS");

  attr = clockAttr(kType);
  attr.sample_id_all = 0;  // samples have a time, other records have none: they hold from where they stand
  RecordBuilder old;
  old.event(attr).at(9).comm("a").mmap({.file = "/x"}).at(7).sample({.ip = 2}).at(5).sample({.ip = 1});
  const Collector got = readBuilt(old);
  EXPECT_EQ(got.kinds(), "CMSS");
  EXPECT_EQ(ips(got), (std::vector<uint64_t>{1, 2}));
}

TEST(Ordering, WhatTheRecorderMadeUpAtTheStartComesFirst) {
  RecordBuilder b;
  b.event(clockAttr(kType));
  b.at(0)
      .mmap({.file = "first"})
      .comm("second")
      .at(5)
      .sample({.ip = 5})
      .at(3)
      .sample({.ip = 3})
      .at(0)
      .mmap({.file = "third"});
  const Collector got = readBuilt(b);
  EXPECT_EQ(got.kinds(), "MCMSS");
  EXPECT_EQ(ips(got), (std::vector<uint64_t>{3, 5}));
}

TEST(Ordering, ABrokenInvariantIsSaidAndNothingIsLost) {
  RecordBuilder b;
  b.event(clockAttr(kType));
  b.at(10).sample({.ip = 10}).finishedRound().at(20).sample({.ip = 20}).finishedRound();
  b.at(5).sample({.ip = 5}).at(30).sample({.ip = 30});
  std::vector<std::string> warnings;
  EXPECT_EQ(ips(readBuilt(b, &warnings)), (std::vector<uint64_t>{10, 5, 20, 30}));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("1 records came later"), std::string::npos) << warnings[0];
}

/// Records of 8 bytes that are nothing but their time.
struct TimesOnly {
  explicit TimesOnly(std::vector<uint64_t> all) : times(std::move(all)) {}

  const uint8_t* at(size_t index) const { return reinterpret_cast<const uint8_t*>(times.data() + index); }
  size_t indexOf(const uint8_t* record) const { return static_cast<size_t>(record - at(0)) / 8; }
  void addTo(Sorter& sorter, size_t index) const { sorter.add(times[index], at(index), at(index + 1)); }
  static Sorter::Position advance(const uint8_t* record, const uint8_t* end) {
    record += 8;
    return {record == end ? 0 : load<uint64_t>(record), record};
  }

  std::vector<uint64_t> times;
};

TEST(Ordering, TheSorterHoldsTwoRoundsAtMost) {
  std::vector<uint64_t> times;
  for (uint64_t i = 0; i < 100'000; ++i) times.push_back(1 + i);
  const TimesOnly records(times);
  Sorter sorter;
  size_t added = 0, delivered = 0;
  const auto deliver = [&](const uint8_t* record, const uint8_t*) {
    EXPECT_EQ(records.indexOf(record), delivered++);
  };
  for (uint64_t round = 0; round < 100; ++round) {
    for (uint64_t i = 0; i < 1000; ++i, ++added) records.addTo(sorter, added);
    sorter.deliverUpTo(sorter.endRound(), deliver, TimesOnly::advance);
    EXPECT_GE(delivered + 1000, added);
    EXPECT_LE(sorter.waitingRuns(), 2u);
  }
  sorter.deliverUpTo(~uint64_t{0}, deliver, TimesOnly::advance);
  EXPECT_EQ(delivered, added);
  EXPECT_EQ(sorter.waitingRuns(), 0u);
}

TEST(Ordering, RecordsInOrderTakeNoMemory) {
  std::vector<uint64_t> times;
  for (uint64_t i = 0; i < 100'000; ++i) times.push_back(1 + i / 3);
  const TimesOnly records(times);
  Sorter sorter;
  for (size_t i = 0; i < times.size(); ++i) records.addTo(sorter, i);
  EXPECT_EQ(sorter.waitingRuns(), 1u);
}

TEST(Ordering, MergingManyRunsEqualsAStableSort) {
  std::mt19937_64 random(4);
  for (size_t count : {0, 1, 2, 3, 7, 100, 4097}) {
    std::vector<uint64_t> times(count);
    for (uint64_t& time : times) time = 1 + random() % 50;
    const TimesOnly records(times);
    std::vector<size_t> wanted(count);
    for (size_t i = 0; i < count; ++i) wanted[i] = i;
    std::stable_sort(wanted.begin(), wanted.end(), [&](size_t a, size_t b) { return times[a] < times[b]; });
    for (const uint64_t step : {1, 7, 50}) {  // how far each delivery goes
      Sorter sorter;
      for (size_t i = 0; i < count; ++i) records.addTo(sorter, i);
      std::vector<size_t> got;
      const auto deliver = [&](const uint8_t* record, const uint8_t*) {
        got.push_back(records.indexOf(record));
      };
      for (uint64_t limit = 0; limit <= 50; limit += step) {
        sorter.deliverUpTo(limit, deliver, TimesOnly::advance);
        for (const size_t index : got) ASSERT_LE(times[index], limit);
      }
      sorter.deliverUpTo(~uint64_t{0}, deliver, TimesOnly::advance);
      EXPECT_EQ(got, wanted);
      EXPECT_EQ(sorter.late(), 0u);
    }
  }
}

}  // namespace
}  // namespace cacheline::perfdata::testing
