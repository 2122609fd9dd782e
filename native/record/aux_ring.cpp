// Mapping and draining of AUX areas.
#include "record/aux_ring.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "perfdata/format.h"

namespace cacheline::record {
namespace {

// tools/lib/perf/include/perf/event.h of Linux: struct perf_record_auxtrace and struct perf_record_time_conv.
struct AuxtraceRecord {
  perf_event_header header{perfdata::kRecordAuxtrace, 0, sizeof(AuxtraceRecord)};
  uint64_t size = 0, offset = 0, reference = 0;
  uint32_t index = 0, tid = UINT32_MAX, cpu = 0, reserved = 0;
};
static_assert(sizeof(AuxtraceRecord) == 48);

struct TimeConversionRecord {
  perf_event_header header{perfdata::kRecordTimeConv, 0, sizeof(TimeConversionRecord)};
  uint64_t shift = 0, multiplier = 0, zero = 0, cycles = 0, mask = 0;
  uint8_t capZero = 0, capShort = 0, reserved[6] = {};
};
static_assert(sizeof(TimeConversionRecord) == 56);

constexpr size_t kAlignment = 8;  // of records in the file; SPE takes zeros for padding

}  // namespace

AuxRing AuxRing::map(const Kernel& kernel, const RingBuffer& ring, int fd, size_t bytes) {
  perf_event_mmap_page& control = ring.control();
  control.aux_offset = ring.mappedBytes();
  control.aux_size = bytes;
  AuxRing aux;
  void* area = kernel.mapAux(fd, control);
  if (area == MAP_FAILED) return aux;
  aux.control_ = &control;
  aux.area_ = static_cast<uint8_t*>(area);
  aux.bytes_ = bytes;
  return aux;
}

AuxRing::AuxRing(AuxRing&& other) noexcept
    : control_(other.control_),
      area_(std::exchange(other.area_, nullptr)),
      bytes_(other.bytes_),
      piece_(std::move(other.piece_)) {}

AuxRing& AuxRing::operator=(AuxRing&& other) noexcept {
  std::swap(control_, other.control_);
  std::swap(area_, other.area_);
  std::swap(bytes_, other.bytes_);
  std::swap(piece_, other.piece_);
  return *this;
}

AuxRing::~AuxRing() {
  if (area_ != nullptr) ::munmap(area_, bytes_);
}

bool AuxRing::drain(uint32_t cpu, uint32_t index, const Consume& consume) {
  // As in RingBuffer::drain(): what is before aux_head is read after it, and given back after it was read.
  const uint64_t head = std::atomic_ref<__u64>(control_->aux_head).load(std::memory_order_acquire);
  const uint64_t tail = control_->aux_tail;
  const uint64_t size = head - tail;
  if (size == 0) return false;
  if (size > bytes_)
    throw Error(ErrorKind::internal, "an AUX area of " + std::to_string(bytes_) + " bytes claims " +
                                         std::to_string(size) + " unread bytes");
  AuxtraceRecord record;
  record.size = (size + kAlignment - 1) / kAlignment * kAlignment;
  record.offset = tail;
  record.index = index;
  record.cpu = cpu;
  piece_.assign(sizeof record + static_cast<size_t>(record.size), 0);
  std::memcpy(piece_.data(), &record, sizeof record);
  const size_t start = static_cast<size_t>(tail & (bytes_ - 1));
  const size_t first = std::min(static_cast<size_t>(size), bytes_ - start);
  std::memcpy(piece_.data() + sizeof record, area_ + start, first);
  std::memcpy(piece_.data() + sizeof record + first, area_, static_cast<size_t>(size) - first);
  consume(piece_);
  std::atomic_ref<__u64>(control_->aux_tail).store(head, std::memory_order_release);
  return true;
}

std::vector<uint8_t> timeConversionRecord(const perf_event_mmap_page& control) {
  TimeConversionRecord record;
  // The kernel changes these fields between two increments of `lock`.
  auto& page = const_cast<perf_event_mmap_page&>(control);
  const std::atomic_ref<__u32> lock(page.lock);
  uint32_t before = 0;
  bool known = false;
  do {
    before = lock.load(std::memory_order_acquire);
    known = page.cap_user_time_zero != 0;
    record.shift = page.time_shift;
    record.multiplier = page.time_mult;
    record.zero = page.time_zero;
    record.capZero = 1;
    record.capShort = page.cap_user_time_short != 0 ? 1 : 0;
    record.cycles = record.capShort != 0 ? page.time_cycles : 0;
    record.mask = record.capShort != 0 ? page.time_mask : 0;
    std::atomic_thread_fence(std::memory_order_acquire);
  } while (lock.load(std::memory_order_relaxed) != before);
  if (!known) return {};
  const auto* bytes = reinterpret_cast<const uint8_t*>(&record);
  return {bytes, bytes + sizeof record};
}

}  // namespace cacheline::record
