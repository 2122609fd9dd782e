// Memory for large tables, in huge pages where the system has them: a table that is read all over costs a
// walk through the page tables an access otherwise, which takes longest in a virtual machine.
#pragma once

#include <cstddef>

namespace cacheline {

/// Zeroed memory of its own. From kHugePage bytes on it is aligned to that and asks for huge pages.
class LargeMemory {
 public:
  static constexpr size_t kHugePage = size_t{2} << 20;

  LargeMemory() = default;
  /// `huge`: ask for huge pages, which become resident whole at the first touch. Throws std::bad_alloc.
  explicit LargeMemory(size_t bytes, bool huge = true);
  LargeMemory(LargeMemory&& other) noexcept;
  LargeMemory& operator=(LargeMemory&& other) noexcept;
  ~LargeMemory();

  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace cacheline
