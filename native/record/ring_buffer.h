// The memory-mapped ring buffers the kernel writes perf records into (perf_event_open(2), "MMAP layout").
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "record/capability.h"

namespace cacheline::record {

/// One ring: a control page and a power of two of data pages.
class RingBuffer {
 public:
  /// `dataBytes`: a power of two of at least a page. Empty (see operator bool) with errno set where the
  /// kernel refuses.
  static RingBuffer map(int fd, size_t dataBytes);
  RingBuffer() = default;
  RingBuffer(RingBuffer&& other) noexcept;
  RingBuffer& operator=(RingBuffer&& other) noexcept;
  RingBuffer(const RingBuffer&) = delete;
  RingBuffer& operator=(const RingBuffer&) = delete;
  ~RingBuffer();
  explicit operator bool() const { return control_ != nullptr; }
  perf_event_mmap_page& control() const { return *control_; }
  size_t mappedBytes() const { return mappedBytes_; }  ///< control page and data

  using Consume = std::function<void(std::span<const uint8_t>)>;
  /// Gives everything the kernel has completed since the last call as one span of whole records, then hands
  /// the room back to the kernel. Nothing is handed back where `consume` throws. False where there was
  /// nothing.
  bool drain(const Consume& consume);

 private:
  perf_event_mmap_page* control_ = nullptr;
  size_t mappedBytes_ = 0, dataBytes_ = 0;
  std::vector<uint8_t> unwrapped_;  // used when the records cross the ring's end
};

struct Rings {
  std::vector<RingBuffer> rings;  ///< beside the file descriptors
  size_t dataBytes = 0;           ///< of each
};

/// Records of an event, and of those who inherited it, that found no room in its ring. The event's
/// read_format is PERF_FORMAT_LOST alone (Linux 6.0). Empty where it cannot be read.
std::optional<uint64_t> lostBy(int fd);

/// Maps a ring for each of `fds`, of `dataBytes` (rounded up to a power of two; 0: 512 KiB, which with its
/// control page is kernel.perf_event_mlock_kb's default a CPU), halving where the kernel refuses so much
/// locked memory. Throws Error(impossible).
Rings mapRings(const std::vector<int>& fds, size_t dataBytes, const Permissions& permissions);

}  // namespace cacheline::record
