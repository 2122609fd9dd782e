// AUX areas by themselves: a real ring, and an area that the test writes instead of the hardware.
#include "record/aux_ring.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <numeric>

#include "base/error.h"
#include "base/unique_fd.h"
#include "perfdata/format.h"
#include "support.h"

namespace cacheline::record::test {
namespace {

constexpr size_t kBytes = 8192;

class AuxRingTest : public testing::Test {
 protected:
  void SetUp() override {
    perf_event_attr attr{};
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = PERF_COUNT_SW_DUMMY;
    attr.exclude_kernel = attr.exclude_hv = 1;
    fd_.reset(Kernel::real().perfEventOpen(attr, 0, 0, -1, PERF_FLAG_FD_CLOEXEC));
    ASSERT_TRUE(fd_) << "perf_event_open of a software event";
    ring_ = RingBuffer::map(fd_.get(), kBytes);
    ASSERT_TRUE(ring_);
    Kernel kernel = Kernel::real();
    kernel.mapAux = [this](int, const perf_event_mmap_page& control) {
      offset_ = control.aux_offset;
      void* area =
          ::mmap(nullptr, control.aux_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      area_ = static_cast<uint8_t*>(area);
      return area;
    };
    aux_ = AuxRing::map(kernel, ring_, fd_.get(), kBytes);
    ASSERT_TRUE(aux_);
  }

  /// As the hardware and the kernel do it.
  void trace(const std::vector<uint8_t>& bytes) {
    perf_event_mmap_page& control = ring_.control();
    for (const uint8_t byte : bytes) area_[control.aux_head++ % kBytes] = byte;
  }
  /// What one drain gives; empty: nothing.
  std::vector<uint8_t> drained() {
    std::vector<uint8_t> piece;
    aux_.drain(3, 1, [&](std::span<const uint8_t> bytes) { piece.assign(bytes.begin(), bytes.end()); });
    return piece;
  }

  UniqueFd fd_;
  RingBuffer ring_;
  AuxRing aux_;
  uint8_t* area_ = nullptr;
  uint64_t offset_ = 0;
};

struct Head {
  perf_event_header header;
  uint64_t size, offset, reference;
  uint32_t index, tid, cpu, reserved;
};

TEST_F(AuxRingTest, PiecesAreWholeAcrossTheEnd) {
  EXPECT_EQ(offset_, ring_.mappedBytes());
  EXPECT_TRUE(drained().empty());
  uint64_t place = 0;
  uint8_t next = 0;
  for (const size_t size : {size_t{24}, size_t{101}, size_t{8000}, size_t{333}, kBytes}) {
    std::vector<uint8_t> bytes(size);
    std::iota(bytes.begin(), bytes.end(), next);
    next = static_cast<uint8_t>(next + size);
    trace(bytes);
    const std::vector<uint8_t> piece = drained();
    Head head{};
    ASSERT_GE(piece.size(), sizeof head);
    std::memcpy(&head, piece.data(), sizeof head);
    EXPECT_EQ(head.header.type, perfdata::kRecordAuxtrace);
    EXPECT_EQ(head.header.size, sizeof head);
    EXPECT_EQ(head.size, (size + 7) / 8 * 8);
    EXPECT_EQ(head.offset, place);
    EXPECT_EQ(head.index, 1u);
    EXPECT_EQ(head.cpu, 3u);
    EXPECT_EQ(head.tid, UINT32_MAX);
    ASSERT_EQ(piece.size(), sizeof head + head.size);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), piece.begin() + sizeof head)) << size;
    EXPECT_TRUE(std::all_of(piece.begin() + static_cast<ptrdiff_t>(sizeof head + size), piece.end(),
                            [](uint8_t byte) { return byte == 0; }));
    place += size;
    EXPECT_EQ(ring_.control().aux_tail, place);
  }
  EXPECT_TRUE(drained().empty());
}

TEST_F(AuxRingTest, NothingIsGivenBackThatNobodyTook) {
  trace(std::vector<uint8_t>(16, 7));
  EXPECT_THROW(aux_.drain(0, 0, [](std::span<const uint8_t>) { throw Error(ErrorKind::io, "disk full"); }),
               Error);
  EXPECT_EQ(ring_.control().aux_tail, 0u);
  EXPECT_EQ(drained().size(), sizeof(Head) + 16);
}

TEST_F(AuxRingTest, MoreThanTheAreaHoldsIsAnError) {
  ring_.control().aux_head = kBytes + 1;
  EXPECT_THROW(drained(), Error);
}

TEST_F(AuxRingTest, TheClockIsWhatTheKernelSays) {
  perf_event_mmap_page page{};
  EXPECT_TRUE(timeConversionRecord(page).empty());
  page.cap_user_time_zero = 1;
  page.time_shift = 10;
  page.time_mult = 40960;
  page.time_zero = 77;
  page.time_cycles = 5;
  const std::vector<uint8_t> record = timeConversionRecord(page);
  ASSERT_EQ(record.size(), 56u);
  uint64_t words[7];
  std::memcpy(words, record.data(), sizeof words);
  EXPECT_EQ(words[1], 10u);
  EXPECT_EQ(words[2], 40960u);
  EXPECT_EQ(words[3], 77u);
  EXPECT_EQ(words[4], 0u) << "cycles belong to short counters";
  EXPECT_EQ(words[6], 1u);
}

}  // namespace
}  // namespace cacheline::record::test
