// Samples in no order, between other records in theirs; samples by address; the visitor on a thread of its
// own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "perfdata/access_reader.h"
#include "perfdata/address_filter.h"
#include "perfdata/reader.h"
#include "perfdata/record_parser.h"
#include "record_builder.h"
#include "test_support.h"

namespace cacheline::perfdata::testing {
namespace {

constexpr uint64_t kSampleType = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |
                                 PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PHYS_ADDR;

/// By a sample's number (its ip), how many names the processes had had when it was recorded.
using Versions = std::map<uint64_t, uint64_t>;

struct Recorder {
  uint32_t cpus = 4;
  int rounds = 30;
  uint64_t samplesOfCpu = 60;  ///< in a round, at most
  uint64_t namesIn1000 = 10;
  bool marksRounds = true;
};

/// A recorder in small (see ordering.cpp), of samples and COMM records.
Versions simulate(RecordBuilder& b, const Recorder& recorder, std::mt19937_64& random) {
  struct Recorded {
    uint64_t time, ip;  ///< ip 0: a COMM record
  };
  std::vector<std::vector<Recorded>> buffers(recorder.cpus);
  Versions truth;
  uint64_t now = 1000, names = 0, samples = 0;
  const auto empty = [&](uint32_t cpu) {
    for (const Recorded& r : buffers[cpu]) {
      b.cpu(cpu).at(r.time);
      if (r.ip == 0)
        b.comm("name");
      else
        b.sample({.ip = r.ip, .address = 64 * r.ip, .weight = r.ip % 7, .dataSource = 5 + r.ip});
    }
    buffers[cpu].clear();
  };
  for (int round = 0; round < recorder.rounds; ++round) {
    for (uint32_t cpu = 0; cpu < recorder.cpus; ++cpu) {
      for (uint64_t n = random() % recorder.samplesOfCpu; n > 0; --n) {
        now += 1 + random() % 50;
        std::vector<Recorded>& buffer = buffers[random() % recorder.cpus];
        if (random() % 1000 < recorder.namesIn1000) {
          ++names;
          buffer.push_back({now, 0});
        } else {
          truth[++samples] = names;
          buffer.push_back({now, samples});
        }
      }
      empty(cpu);
    }
    if (recorder.marksRounds) b.finishedRound();
  }
  for (uint32_t cpu = 0; cpu < recorder.cpus; ++cpu) empty(cpu);
  return truth;
}

/// The samples, and when each was.
class Scanner {
 public:
  explicit Scanner(size_t workers) : workers_(workers) {
    for (Worker& worker : workers_) visitors.push_back(&worker);
  }
  std::map<uint64_t, Moment> samples() const {
    std::map<uint64_t, Moment> all;
    size_t count = 0;
    for (const Worker& worker : workers_) {
      all.insert(worker.seen.begin(), worker.seen.end());
      count += worker.seen.size();
    }
    EXPECT_EQ(all.size(), count) << "a sample came twice";
    return all;
  }
  std::vector<AccessVisitor*> visitors;

 private:
  struct Worker : AccessVisitor {
    void onAccesses(AccessReader& reader, const Stretch& stretch) override {
      reader.each(stretch, [&](const AccessSample& sample) {
        EXPECT_EQ(sample.address, 64 * sample.ip);
        EXPECT_EQ(sample.weight, sample.ip % 7);
        EXPECT_EQ(sample.dataSource, 5 + sample.ip);
        const Moment moment{isTime(sample.time) ? sample.time : stretch.since, sample.position};
        EXPECT_TRUE(seen.emplace(sample.ip, moment).second) << "a sample came twice";
      });
    }
    std::map<uint64_t, Moment> seen;
  };
  std::vector<Worker> workers_;
};

Versions scan(const std::string& path, unsigned threads) {
  struct Names : RecordVisitor {
    void onComm(const Comm& record) override {
      EXPECT_TRUE(moments.empty() || !(record.moment < moments.back())) << "by moment";
      moments.push_back(record.moment);
    }
    std::vector<Moment> moments;
  } names;
  const auto reader = Reader::open(path);
  reader->readOthers(names, {}, threads);
  Scanner scanner(threads);
  EXPECT_NE(reader->scan(scanner.visitors), Scanned::partly);
  Versions versions;
  for (const auto& [ip, moment] : scanner.samples())
    versions[ip] = static_cast<uint64_t>(
        std::upper_bound(names.moments.begin(), names.moments.end(), moment) - names.moments.begin());
  return versions;
}

void expectScanned(const Recorder& recorder, uint64_t seed) {
  std::mt19937_64 random(seed);
  RecordBuilder b;
  b.event(clockAttr(kSampleType), "loads", {1});
  const Versions truth = simulate(b, recorder, random);
  TempFolder folder;
  b.write(folder / "perf.data");
  for (const unsigned threads : {1, 2, 5})
    EXPECT_EQ(scan(folder / "perf.data", threads), truth) << "seed " << seed << ", " << threads << " threads";
}

TEST(Scan, SamplesSeeTheRecordsThatAreOlder) {
  for (uint64_t seed = 1; seed <= 20; ++seed) expectScanned({}, seed);
}

TEST(Scan, WithManyAndWithoutOtherRecords) {
  expectScanned({.namesIn1000 = 500}, 1);
  expectScanned({.namesIn1000 = 0}, 2);
}

TEST(Scan, StretchesLongerThanOnePiece) {
  expectScanned({.cpus = 2, .rounds = 3, .samplesOfCpu = 8000, .namesIn1000 = 1}, 1);
}

/// Several threads walk it.
constexpr Recorder kLargeFile = {.cpus = 3, .rounds = 700, .samplesOfCpu = 130};

TEST(Scan, ALargeFileIsWalkedInParts) {
  expectScanned(kLargeFile, 1);
}

TEST(Scan, PartsThatDoNotFitAreWalkedInOneGo) {
  std::mt19937_64 random(1);
  RecordBuilder b;
  b.event(clockAttr(kSampleType), "loads", {1});
  b.cpu(0).at(uint64_t{1} << 50).comm("from the future").finishedRound();
  simulate(b, kLargeFile, random);
  // A record without a time holds from what its round is due, which the future decides.
  constexpr uint64_t kIp = 1'000'000'001;
  b.at(0).comm("no time").at(1'000'000'000);
  b.sample({.ip = kIp, .address = 64 * kIp, .weight = kIp % 7, .dataSource = 5 + kIp});
  TempFolder folder;
  b.write(folder / "perf.data");
  EXPECT_EQ(scan(folder / "perf.data", 5), scan(folder / "perf.data", 1));
}

TEST(Scan, ARecordThatLooksLikeTheEndOfARoundIsNone) {
  std::mt19937_64 random(1);
  RecordBuilder b;
  b.event(clockAttr(kSampleType), "loads", {1});
  // Records of an unknown type whose bytes are all such headers, in the middle of the file.
  const uint64_t header = kRecordFinishedRound | uint64_t{8} << 48;
  std::vector<uint8_t> body(60'000);
  for (size_t i = 0; i + 8 <= body.size(); i += 8) std::memcpy(&body[i], &header, 8);
  const Versions first = simulate(b, kLargeFile, random);
  for (int i = 0; i < 150; ++i) b.raw(120, 0, body);
  TempFolder folder;
  b.write(folder / "perf.data");
  EXPECT_EQ(scan(folder / "perf.data", 2), first);
}

TEST(Scan, AFileWithoutRoundsIsOneRound) {
  expectScanned({.cpus = 1, .marksRounds = false}, 1);
  expectScanned({.cpus = 3, .samplesOfCpu = 900, .namesIn1000 = 2, .marksRounds = false}, 2);
}

TEST(Scan, WhatHasNoTimeHoldsFromWhereItStands) {
  RecordBuilder b;
  b.event(clockAttr(kSampleType & ~uint64_t{PERF_SAMPLE_TIME}), "loads", {1});
  const auto sample = [&](uint64_t ip) {
    b.sample({.ip = ip, .address = 64 * ip, .weight = ip % 7, .dataSource = 5 + ip});
  };
  for (uint64_t ip = 1; ip <= 6; ++ip) {
    sample(ip);
    if (ip % 2 == 0) b.comm("name");
  }
  TempFolder folder;
  b.write(folder / "perf.data");
  const Versions truth = {{1, 0}, {2, 0}, {3, 1}, {4, 1}, {5, 2}, {6, 2}};
  EXPECT_EQ(scan(folder / "perf.data", 2), truth);
}

TEST(Scan, WhatAWorkerThrowsComesOut) {
  struct Thrower : AccessVisitor {
    void onAccesses(AccessReader&, const Stretch&) override { throw std::runtime_error("enough"); }
  };
  std::mt19937_64 random(1);
  RecordBuilder b;
  b.event(clockAttr(kSampleType), "loads", {1});
  simulate(b, {}, random);
  TempFolder folder;
  b.write(folder / "perf.data");
  Thrower first, second;
  EXPECT_THROW(Reader::open(folder / "perf.data")->scan(std::vector<AccessVisitor*>{&first, &second}),
               std::runtime_error);
}

TEST(Scan, EndsWhereTheVisitorHasEnough) {
  struct Counter : AccessVisitor {
    void onAccesses(AccessReader& from, const Stretch& stretch) override {
      from.each(stretch, [this](const AccessSample&) { ++samples; });
    }
    uint64_t samples = 0;
  } counter;
  int more = 2;
  constexpr uint64_t kSamples = 300'000;
  RecordBuilder b;
  b.event(clockAttr(kSampleType), "loads", {1});
  for (uint64_t i = 0; i < kSamples; ++i) {
    b.at(10 + i).sample({.ip = i});
    if (i % 1000 == 0) b.finishedRound();
  }
  TempFolder folder;
  b.write(folder / "perf.data");
  const auto reader = Reader::open(folder / "perf.data");
  EXPECT_EQ(reader->scan(std::vector<AccessVisitor*>{&counter}, {}, nullptr, [&] { return --more > 0; }),
            Scanned::partly);
  EXPECT_GT(counter.samples, 0u);
  EXPECT_LT(counter.samples, kSamples);
}

TEST(Scan, AFilterKeepsWhatWasAddedAndLittleElse) {
  std::mt19937_64 random(1);
  AddressFilter filter(64, 1000);
  std::vector<uint64_t> kept;
  for (int i = 0; i < 1000; ++i) filter.add(kept.emplace_back(random() & ~uint64_t{63}));
  for (const uint64_t address : kept) {
    EXPECT_TRUE(filter.mayHave(address));
    EXPECT_TRUE(filter.mayHave(address + 63));
  }
  int passed = 0;
  for (int i = 0; i < 10000; ++i) passed += filter.mayHave(random()) ? 1 : 0;
  EXPECT_LT(passed, 400);              // 1 in 64 is expected
  AddressFilter neighbours(64, 1000);  // one after the other, as in an array
  for (uint64_t i = 0; i < 1000; ++i) neighbours.add(0x7f0000000000 + 64 * i);
  passed = 0;
  for (uint64_t i = 1000; i < 11000; ++i) passed += neighbours.mayHave(0x7f0000000000 + 64 * i) ? 1 : 0;
  EXPECT_LT(passed, 400);
}

TEST(Scan, AVisitorOnItsOwnThreadGetsTheSameInTheSameOrder) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    std::mt19937_64 random(seed);
    RecordBuilder b;
    b.event(clockAttr(kSampleType), "loads", {1});
    simulate(b, {.samplesOfCpu = 400}, random);
    TempFolder folder;
    b.write(folder / "perf.data");
    Collector one, two;
    Reader::open(folder / "perf.data")->readAll(one);
    Reader::open(folder / "perf.data")->readAll(two, {}, 2);
    EXPECT_EQ(one.order, two.order) << "seed " << seed;
    ASSERT_EQ(one.samples.size(), two.samples.size());
    for (size_t i = 0; i < one.samples.size(); ++i) ASSERT_EQ(one.samples[i].ip, two.samples[i].ip) << i;
  }
}

}  // namespace
}  // namespace cacheline::perfdata::testing
