// Reading in two halves: both together are the whole, in order, with one thread and with two.
#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "base/error.h"
#include "file_builder.h"
#include "perfdata/reader.h"
#include "record_builder.h"
#include "test_support.h"

namespace cacheline::perfdata::testing {
namespace {

/// Everything that came, in order; a sample by time, thread and address, another record by type and time.
class Log : public RecordVisitor {
 public:
  using Entry = std::tuple<char, uint64_t, uint64_t>;
  void onSample(const Sample& sample) override {
    samples.push_back({sample.time, sample.tid, sample.address});
    all.emplace_back('s', sample.time, sample.address);
  }
  void onMmap(const Mmap& record) override { other('m', record.time, record.address); }
  void onComm(const Comm& record) override { other('c', record.time, record.tid); }
  void onFork(const Task& record) override { other('f', record.time, record.tid); }

  std::vector<std::tuple<uint64_t, uint32_t, uint64_t>> samples;
  std::vector<Entry> all, others;

 private:
  void other(char kind, uint64_t time, uint64_t what) {
    others.emplace_back(kind, time, what);
    all.emplace_back(kind, time, what);
  }
};

/// Rounds of four CPUs whose times overlap as a recorder's do, with maps and names in between.
RecordBuilder recording(size_t rounds, uint64_t seed) {
  std::mt19937_64 random(seed);
  RecordBuilder builder;
  builder.event(
      clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU));
  builder.thread(1, 1).at(0).mmap2({.address = 0x1000, .length = 0x1000, .file = "/first"});
  uint64_t begin[4] = {1000, 1000, 1000, 1000};
  for (size_t round = 0; round < rounds; ++round) {
    for (uint32_t cpu = 0; cpu < 4; ++cpu) {
      const uint64_t end = 1000 + 1000 * (round + 1) + 100 * cpu;
      for (uint64_t time = begin[cpu]; time < end; time += 1 + random() % 60) {
        builder.cpu(cpu).thread(1, 1 + cpu).at(time);
        if (random() % 40 == 0)
          builder.mmap2({.address = 0x10000 + 0x1000 * (random() % 16), .length = 0x1000, .file = "/later"});
        else if (random() % 50 == 0)
          builder.comm("name");
        else
          builder.sample({.ip = 0x1000, .address = random()});
      }
      begin[cpu] = end;
    }
    builder.finishedRound();
  }
  return builder;
}

std::unique_ptr<Reader> readerOf(const std::vector<uint8_t>& bytes) {
  return Reader::fromBytes(bytes, "perf.data");
}

TEST(Halves, TogetherAreTheWhole) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<uint8_t> bytes = fileBytes(recording(4 + seed, seed));
    const auto reader = readerOf(bytes);
    Log whole;
    reader->readAll(whole);
    const std::vector<uint64_t> counts = reader->recordCounts();
    for (const unsigned threads : {1u, 2u}) {
      Log first, second;
      ASSERT_EQ(reader->readHalves(first, second, threads), Reader::Halves::read) << seed;
      EXPECT_FALSE(first.samples.empty());
      EXPECT_FALSE(second.samples.empty());
      const size_t cut = first.samples.size();
      first.samples.insert(first.samples.end(), second.samples.begin(), second.samples.end());
      EXPECT_EQ(first.samples, whole.samples) << seed;
      EXPECT_EQ(second.others, whole.others) << "the second half hears of everything that is no sample";
      EXPECT_EQ(reader->recordCounts(), counts);
      EXPECT_GT(cut, whole.samples.size() / 5);
      EXPECT_LT(cut, whole.samples.size() * 4 / 5);
      // What stands before a sample of the second half in the whole stands before it there too.
      EXPECT_TRUE(std::equal(second.all.rbegin(),
                             second.all.rbegin() + static_cast<ptrdiff_t>(second.samples.size()),
                             whole.all.rbegin()));
    }
  }
}

TEST(Halves, AFileWithoutRoundsIsReadInOne) {
  for (const size_t rounds : {0u, 1u, 2u}) {
    RecordBuilder builder = recording(rounds, 3);
    for (uint64_t i = 0; i < 1000; ++i) builder.at(100000 + i).sample({.ip = 0x1000, .address = i});
    const std::vector<uint8_t> bytes = fileBytes(builder);
    const auto reader = readerOf(bytes);
    Log whole, first, second;
    reader->readAll(whole);
    EXPECT_EQ(reader->readHalves(first, second, 2), Reader::Halves::whole) << rounds;
    EXPECT_EQ(first.all, whole.all);
  }
}

TEST(Halves, ADamagedTailIsAWarningOfTheSecondHalf) {
  std::vector<uint8_t> bytes = fileBytes(recording(10, 4));
  Log whole, first, second;
  const size_t cutAt = bytes.size() * 3 / 4;
  const std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(cutAt));
  const auto reader = readerOf(cut);
  reader->readAll(whole);
  const std::vector<std::string> warnings = reader->warnings();
  EXPECT_FALSE(warnings.empty());
  ASSERT_EQ(reader->readHalves(first, second, 2), Reader::Halves::read);
  EXPECT_EQ(reader->warnings(), warnings);
  EXPECT_EQ(first.samples.size() + second.samples.size(), whole.samples.size());
}

TEST(Halves, CancellingStopsBoth) {
  const std::vector<uint8_t> bytes = fileBytes(recording(20, 5));
  const auto reader = readerOf(bytes);
  Log first, second;
  for (const unsigned threads : {1u, 2u})
    EXPECT_THROW(reader->readHalves(first, second, threads, [](double) { return false; }), Error);
}

}  // namespace
}  // namespace cacheline::perfdata::testing
