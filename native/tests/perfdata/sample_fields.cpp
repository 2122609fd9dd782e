// Every field of a sample, alone and in every company, and the sample_id trailer.
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "perfdata/bytes.h"
#include "perfdata/reader.h"
#include "perfdata/sample_layout.h"
#include "record_builder.h"
#include "test_support.h"

namespace cacheline::perfdata::testing {
namespace {

constexpr uint64_t kAllFields = (uint64_t{PERF_SAMPLE_WEIGHT_STRUCT} << 1) - 1;

/// Fields with values that differ from each other and from the defaults.
SampleFields someFields(std::mt19937_64& random, const perf_event_attr& attr) {
  const auto words = [&](uint64_t count) {
    std::vector<uint64_t> values(count);
    for (uint64_t& value : values) value = random();
    return values;
  };
  SampleFields s;
  s.ip = random();
  s.address = random();
  s.period = random();
  const auto bits = [](uint64_t value) { return static_cast<uint64_t>(std::popcount(value)); };
  const uint64_t times =
      bits(attr.read_format & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
  const uint64_t entry = 1 + bits(attr.read_format & (PERF_FORMAT_ID | kReadFormatLost));
  if ((attr.read_format & PERF_FORMAT_GROUP) != 0) {
    const uint64_t entries = random() % 4;
    s.read = {entries};
    const auto rest = words(times + entries * entry);
    s.read.insert(s.read.end(), rest.begin(), rest.end());
  } else {
    s.read = words(times + entry);
  }
  s.callchain = words(random() % 5);
  s.raw.resize(random() % 20, 0x55);
  s.branches = words(3 * (random() % 4));
  s.branchCounters = words(s.branches.size() / 3);
  s.branchIndex = random();
  s.branchStack = !s.branches.empty() || random() % 2 == 0;
  for (uint8_t reg = 0; reg < 40; ++reg) {
    s.registers[reg] = random();
    s.userRegisters[reg] = random();
  }
  s.userAbi = random() % 4 != 0;
  s.interruptAbi = random() % 4 != 0;
  s.stack.resize(8 * (random() % 5), 0x77);
  s.weight = random();
  s.dataSource = random();
  s.transaction = random();
  s.physicalAddress = random();
  s.cgroup = random();
  s.dataPageSize = random();
  s.codePageSize = random();
  s.aux.resize(8 * (random() % 5), 0x99);
  return s;
}

void expectRegisters(const Registers& got, uint64_t mask, bool abi,
                     const std::map<uint8_t, uint64_t>& wanted) {
  const uint64_t known = mask & ((1ull << kRegCount) - 1);
  ASSERT_EQ(got.mask, abi ? known : 0);
  for (uint8_t reg = 0; reg < kRegCount; ++reg) {
    if (!got.has(reg)) continue;
    EXPECT_EQ(got.value[reg], wanted.at(reg)) << "register " << int{reg};
  }
}

/// Writes one sample of `attr`, reads it back and compares each field, those that are not carried with their
/// defaults.
void expectReadBack(const perf_event_attr& attr, std::mt19937_64& random) {
  const SampleFields s = someFields(random, attr);
  const uint64_t time = random() | 1;
  RecordBuilder b;
  b.event(attr, "event", {77}).thread(1234, 5678).cpu(3).at(time).sample(s);
  const auto has = [&](uint64_t bit) { return (attr.sample_type & bit) != 0; };

  SampleLayout layout(attr);
  Sample got;
  std::vector<uint64_t> aligned;
  const uint8_t* body = b.records().data() + sizeof(perf_event_header);
  const uint8_t* end = b.records().data() + b.records().size();
  ASSERT_TRUE(layout.parse<ByteOrder::native>(body, end, got, aligned))
      << "sample_type " << hexNumber(attr.sample_type);

  EXPECT_EQ(got.id, has(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID) ? 77u : 0u);
  EXPECT_EQ(got.ip, has(PERF_SAMPLE_IP) ? s.ip : 0u);
  EXPECT_EQ(got.pid, has(PERF_SAMPLE_TID) ? 1234u : 0u);
  EXPECT_EQ(got.tid, has(PERF_SAMPLE_TID) ? 5678u : 0u);
  EXPECT_EQ(got.time, has(PERF_SAMPLE_TIME) ? time : 0u);
  EXPECT_EQ(got.address, has(PERF_SAMPLE_ADDR) ? s.address : 0u);
  EXPECT_EQ(got.streamId, has(PERF_SAMPLE_STREAM_ID) ? 77u : 0u);
  EXPECT_EQ(got.cpu, has(PERF_SAMPLE_CPU) ? 3u : 0u);
  EXPECT_EQ(got.period, has(PERF_SAMPLE_PERIOD) ? s.period : 0u);
  EXPECT_EQ(std::vector<uint64_t>(got.callchain.begin(), got.callchain.end()),
            has(PERF_SAMPLE_CALLCHAIN) ? s.callchain : std::vector<uint64_t>());
  EXPECT_EQ(std::vector<uint8_t>(got.userStack.begin(), got.userStack.end()),
            has(PERF_SAMPLE_STACK_USER) ? s.stack : std::vector<uint8_t>());
  EXPECT_EQ(got.weight, has(PERF_SAMPLE_WEIGHT)          ? s.weight
                        : has(PERF_SAMPLE_WEIGHT_STRUCT) ? s.weight & 0xffffffff
                                                         : 0u);
  EXPECT_EQ(got.dataSource, has(PERF_SAMPLE_DATA_SRC) ? s.dataSource : kDataSourceNone);
  EXPECT_EQ(got.physicalAddress, has(PERF_SAMPLE_PHYS_ADDR) ? s.physicalAddress : 0u);
  const bool weights = has(PERF_SAMPLE_WEIGHT_STRUCT) && !has(PERF_SAMPLE_WEIGHT);
  EXPECT_EQ(got.instructionLatency, weights ? s.weight >> 32 & 0xffff : 0u);
  EXPECT_EQ(got.pipelineStage, weights ? s.weight >> 48 : 0u);
  EXPECT_EQ(got.transaction, has(PERF_SAMPLE_TRANSACTION) ? s.transaction : 0u);
  EXPECT_EQ(got.cgroup, has(PERF_SAMPLE_CGROUP) ? s.cgroup : 0u);
  EXPECT_EQ(got.dataPageSize, has(PERF_SAMPLE_DATA_PAGE_SIZE) ? s.dataPageSize : 0u);
  EXPECT_EQ(got.codePageSize, has(PERF_SAMPLE_CODE_PAGE_SIZE) ? s.codePageSize : 0u);
  if (has(PERF_SAMPLE_REGS_INTR)) {
    expectRegisters(got.registers, attr.sample_regs_intr, s.interruptAbi, s.registers);
  } else if (has(PERF_SAMPLE_REGS_USER)) {
    expectRegisters(got.registers, attr.sample_regs_user, s.userAbi, s.userRegisters);
  } else {
    EXPECT_EQ(got.registers.mask, 0u);
  }
  if (has(PERF_SAMPLE_TIME)) {
    EXPECT_EQ(load<uint64_t>(body + layout.timeOffset()), time);
  }
  if (has(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID)) {
    EXPECT_EQ(load<uint64_t>(body + layout.idOffset()), 77u);
  }

  // One byte less than the fields need is noticed, whichever field is the last.
  EXPECT_FALSE(attr.sample_type != 0 && layout.parse<ByteOrder::native>(body, end - 1, got, aligned));
}

perf_event_attr attrOf(uint64_t sampleType, std::mt19937_64& random) {
  perf_event_attr attr = clockAttr(sampleType);
  attr.read_format = random() % (2 * kReadFormatLost);
  if (random() % 2 == 0) attr.branch_sample_type |= PERF_SAMPLE_BRANCH_HW_INDEX;
  if (random() % 2 == 0) attr.branch_sample_type |= kBranchSampleCounters;
  // Some of the masks reach into the vector registers, for which Registers has no place.
  if (random() % 2 == 0)
    attr.sample_regs_intr |= random() % 2 == 0 ? 0x3ull << 32 : random() & 0xffffffffffull;
  if (random() % 2 == 0) attr.sample_regs_user = random() & 0xffffff;
  return attr;
}

TEST(SampleFields, EveryFieldAlone) {
  std::mt19937_64 random(1);
  for (uint64_t bit = 1; bit <= kAllFields; bit <<= 1) {
    for (int i = 0; i < 20; ++i) {
      expectReadBack(attrOf(bit, random), random);
      if (HasFailure()) FAIL() << "field " << hexNumber(bit);
    }
  }
}

TEST(SampleFields, EveryFieldInRandomCompany) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    uint64_t type = random() & kAllFields;
    if ((type & PERF_SAMPLE_WEIGHT) != 0)
      type &= ~uint64_t{PERF_SAMPLE_WEIGHT_STRUCT};  // the kernel takes one of them only
    const perf_event_attr attr = attrOf(type, random);
    expectReadBack(attr, random);
    if (HasFailure()) FAIL() << "sample_type " << hexNumber(type) << ", round " << i;
  }
}

TEST(SampleFields, AllAtOnce) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100; ++i)
    expectReadBack(attrOf(kAllFields & ~uint64_t{PERF_SAMPLE_WEIGHT}, random), random);
}

TEST(SampleFields, ACallChainThatIsNotAlignedIsCopied) {
  const perf_event_attr attr = clockAttr(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
  RecordBuilder b;
  b.event(attr).sample({.ip = 1, .callchain = {10, 20, 30}});
  alignas(8) uint8_t shifted[128];
  std::memcpy(shifted + 1, b.records().data(), b.records().size());
  Sample got;
  std::vector<uint64_t> aligned;
  ASSERT_TRUE(SampleLayout(attr).parse<ByteOrder::native>(shifted + 9, shifted + 1 + b.records().size(), got,
                                                          aligned));
  EXPECT_EQ(std::vector<uint64_t>(got.callchain.begin(), got.callchain.end()),
            (std::vector<uint64_t>{10, 20, 30}));
}

/// A sample body of one variable field whose count is `count`: it must be refused, whatever the count times
/// the entry size wraps to.
void expectCountRefused(perf_event_attr attr, uint64_t count) {
  alignas(8) uint8_t body[64] = {};
  std::memcpy(body, &count, sizeof count);
  Sample got;
  std::vector<uint64_t> aligned;
  EXPECT_FALSE(SampleLayout(attr).parse<ByteOrder::native>(body, body + sizeof body, got, aligned))
      << "sample_type " << hexNumber(attr.sample_type) << ", count " << hexNumber(count);
}

TEST(SampleFields, CountsThatLieAreRefused) {
  const uint64_t counts[] = {8,         1ull << 32, 1ull << 60,    (1ull << 61) + 1,
                             ~0ull,     ~0ull / 8,  ~0ull / 8 + 1, ~0ull / 24 + 1,
                             ~0ull - 7, ~0ull / 24, 1ull << 63,    (1ull << 63) + 8};
  for (const uint64_t count : counts) {
    expectCountRefused(clockAttr(PERF_SAMPLE_CALLCHAIN), count);
    expectCountRefused(clockAttr(PERF_SAMPLE_BRANCH_STACK), count);
    perf_event_attr attr = clockAttr(PERF_SAMPLE_BRANCH_STACK);
    attr.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | kBranchSampleCounters;
    expectCountRefused(attr, count);
    attr = clockAttr(PERF_SAMPLE_READ);
    attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
    expectCountRefused(attr, count);
    if (count > 64) {
      expectCountRefused(clockAttr(PERF_SAMPLE_STACK_USER), count);
      expectCountRefused(clockAttr(PERF_SAMPLE_AUX), count);
    }
  }
  expectCountRefused(clockAttr(PERF_SAMPLE_RAW), 0xffffffff);
  expectCountRefused(clockAttr(PERF_SAMPLE_RAW), 61);
}

TEST(SampleFields, BitsOfUnknownLayoutAreRefused) {
  perf_event_attr attr = clockAttr(PERF_SAMPLE_READ);
  attr.read_format = 1 << 5;
  EXPECT_THROW(SampleLayout{attr}, Error);
  attr = clockAttr(PERF_SAMPLE_BRANCH_STACK);
  attr.branch_sample_type = 1 << 20;
  EXPECT_THROW(SampleLayout{attr}, Error);
  attr.sample_type = PERF_SAMPLE_IP;  // without branches nobody asks
  EXPECT_NO_THROW(SampleLayout{attr});
}

TEST(SampleFields, TrailersOfEveryComposition) {
  const uint64_t bits[] = {PERF_SAMPLE_TID,       PERF_SAMPLE_TIME, PERF_SAMPLE_ID,
                           PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,  PERF_SAMPLE_IDENTIFIER};
  for (uint32_t combination = 0; combination < 64; ++combination) {
    uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
    for (uint32_t i = 0; i < 6; ++i) {
      if (((combination >> i) & 1) != 0) type |= bits[i];
    }
    RecordBuilder b;
    b.event(clockAttr(type), "e", {9}).thread(1, 2).cpu(3).at(4444).comm("somebody");
    SampleLayouts layouts(b.events(), ByteOrder::native);
    const auto trailer = layouts.trailerOf(b.records().data() + 8, b.records().data() + b.records().size());
    EXPECT_EQ(trailer.size, 8u * static_cast<uint32_t>(std::popcount(combination)));
    EXPECT_EQ(trailer.time, (type & PERF_SAMPLE_TIME) != 0 ? 4444u : 0u) << "sample_type " << hexNumber(type);
  }
  perf_event_attr attr = clockAttr();
  attr.sample_id_all = 0;
  RecordBuilder b;
  b.event(attr).at(4444).comm("somebody");
  SampleLayouts layouts(b.events(), ByteOrder::native);
  EXPECT_EQ(layouts.trailerOf(b.records().data() + 8, b.records().data() + b.records().size()).size, 0u);
}

}  // namespace
}  // namespace cacheline::perfdata::testing
