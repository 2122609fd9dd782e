// Anonymous mappings with an alignment.
#include "base/large_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>
#include <utility>

namespace cacheline {

LargeMemory::LargeMemory(size_t bytes, bool huge) : bytes_(bytes) {
  const size_t spare = bytes >= kHugePage ? kHugePage : 0;
  void* mapped = mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  if (spare == 0) {
    data_ = mapped;
    return;
  }
  // What stands out on both sides of the aligned part goes back.
  const auto start = reinterpret_cast<uintptr_t>(mapped);
  const uintptr_t aligned = (start + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned != start) munmap(mapped, aligned - start);
  if (aligned - start != spare) munmap(reinterpret_cast<void*>(aligned + bytes), spare - (aligned - start));
  data_ = reinterpret_cast<void*>(aligned);
  if (huge) madvise(data_, bytes, MADV_HUGEPAGE);  // without, it works with small pages
}

LargeMemory::LargeMemory(LargeMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

LargeMemory& LargeMemory::operator=(LargeMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

LargeMemory::~LargeMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace cacheline
