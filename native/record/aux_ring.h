// The AUX area beside a ring buffer, into which Arm SPE writes its records (perf_event_open(2),
// "aux_offset").
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "record/kernel.h"
#include "record/ring_buffer.h"

namespace cacheline::record {

class AuxRing {
 public:
  /// Maps an area of `bytes` (a power of two of at least a page) behind the ring of `fd`, which must stay
  /// mapped. Empty (see operator bool) with errno set where the kernel refuses.
  static AuxRing map(const Kernel& kernel, const RingBuffer& ring, int fd, size_t bytes);
  AuxRing() = default;
  AuxRing(AuxRing&& other) noexcept;
  AuxRing& operator=(AuxRing&& other) noexcept;
  AuxRing(const AuxRing&) = delete;
  AuxRing& operator=(const AuxRing&) = delete;
  ~AuxRing();
  explicit operator bool() const { return area_ != nullptr; }
  size_t bytes() const { return bytes_; }

  using Consume = std::function<void(std::span<const uint8_t>)>;
  /// Gives what was traced since the last call as one PERF_RECORD_AUXTRACE of `cpu` (the `index`th buffer)
  /// with its bytes behind it, then hands the room back. Nothing is handed back where `consume` throws. False
  /// where there was nothing.
  bool drain(uint32_t cpu, uint32_t index, const Consume& consume);

 private:
  perf_event_mmap_page* control_ = nullptr;
  uint8_t* area_ = nullptr;
  size_t bytes_ = 0;
  std::vector<uint8_t> piece_;  // of one drain
};

/// PERF_RECORD_TIME_CONV: how the CPU's counter becomes the clock of perf events. Empty where the kernel does
/// not say.
std::vector<uint8_t> timeConversionRecord(const perf_event_mmap_page& control);

}  // namespace cacheline::record
