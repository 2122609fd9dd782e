// Mapping and draining of perf ring buffers.
#include "record/ring_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"

namespace cacheline::record {
namespace {

constexpr size_t kDefaultBytes = size_t{512} << 10;
// A sample with a deep call chain takes about 1.3 KiB, a mapping of a long path 4 KiB: less is no ring.
constexpr size_t kLeastBytes = size_t{32} << 10;

}  // namespace

RingBuffer RingBuffer::map(int fd, size_t dataBytes) {
  RingBuffer ring;
  const size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* base = ::mmap(nullptr, page + dataBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return ring;
  ring.control_ = static_cast<perf_event_mmap_page*>(base);
  ring.mappedBytes_ = page + dataBytes;
  ring.dataBytes_ = dataBytes;
  return ring;
}

RingBuffer::RingBuffer(RingBuffer&& other) noexcept
    : control_(std::exchange(other.control_, nullptr)),
      mappedBytes_(other.mappedBytes_),
      dataBytes_(other.dataBytes_),
      unwrapped_(std::move(other.unwrapped_)) {}

RingBuffer& RingBuffer::operator=(RingBuffer&& other) noexcept {
  std::swap(control_, other.control_);
  std::swap(mappedBytes_, other.mappedBytes_);
  std::swap(dataBytes_, other.dataBytes_);
  std::swap(unwrapped_, other.unwrapped_);
  return *this;
}

RingBuffer::~RingBuffer() {
  if (control_ != nullptr) ::munmap(control_, mappedBytes_);
}

bool RingBuffer::drain(const Consume& consume) {
  // Acquire: the records before data_head are read only after it. Release: the kernel overwrites them only
  // after we have read them.
  const uint64_t head = std::atomic_ref<__u64>(control_->data_head).load(std::memory_order_acquire);
  const uint64_t tail = control_->data_tail;
  const uint64_t size = head - tail;
  if (size == 0) return false;
  if (size > dataBytes_)
    throw Error(ErrorKind::internal, "a perf ring of " + std::to_string(dataBytes_) + " bytes claims " +
                                         std::to_string(size) + " unread bytes");
  const uint8_t* data = reinterpret_cast<const uint8_t*>(control_) + (mappedBytes_ - dataBytes_);
  const size_t start = static_cast<size_t>(tail & (dataBytes_ - 1));
  if (start + size <= dataBytes_) {
    consume({data + start, static_cast<size_t>(size)});
  } else {
    const size_t first = dataBytes_ - start;
    unwrapped_.resize(static_cast<size_t>(size));
    std::memcpy(unwrapped_.data(), data + start, first);
    std::memcpy(unwrapped_.data() + first, data, static_cast<size_t>(size) - first);
    consume(unwrapped_);
  }
  std::atomic_ref<__u64>(control_->data_tail).store(head, std::memory_order_release);
  return true;
}

std::optional<uint64_t> lostBy(int fd) {
  struct {
    uint64_t value, lost;  // perf_event_open(2), "Reading results"
  } count{};
  if (::read(fd, &count, sizeof count) != sizeof count) return std::nullopt;
  return count.lost;
}

Rings mapRings(const std::vector<int>& fds, size_t dataBytes, const Permissions& permissions) {
  int errnum = 0;
  const size_t most = dataBytes == 0 ? kDefaultBytes : std::max(std::bit_ceil(dataBytes), kLeastBytes);
  for (size_t bytes = most; bytes >= kLeastBytes; bytes /= 2) {
    Rings mapped;
    mapped.dataBytes = bytes;
    for (const int fd : fds) {
      RingBuffer ring = RingBuffer::map(fd, bytes);
      if (!ring) {
        errnum = errno;
        break;
      }
      mapped.rings.push_back(std::move(ring));
    }
    if (mapped.rings.size() == fds.size()) return mapped;
    if (errnum != EPERM && errnum != ENOMEM && errnum != EAGAIN) break;
  }
  const std::string limit =
      permissions.perfEventMlockKb ? std::to_string(*permissions.perfEventMlockKb) : "unknown";
  throw RefusedError("cannot map a perf ring buffer of " + std::to_string(kLeastBytes >> 10) +
                         " KiB a CPU: " + errnoText(errnum) + "; kernel.perf_event_mlock_kb is " + limit,
                     {"kernel.perf_event_mlock_kb", limit,
                      "End other recordings of this user, or: sudo sysctl kernel.perf_event_mlock_kb=2048"});
}

}  // namespace cacheline::record
