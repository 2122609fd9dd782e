// Where the kernel and its modules are mapped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "perfdata/reader.h"

namespace cacheline::sharing {

/// The upper half of a 64-bit address space is the kernel's.
inline bool isKernelAddress(uint64_t address) {
  return (address >> 63) != 0;
}

class KernelRanges {
 public:
  /// An MMAP record of the kernel.
  void add(const perfdata::Mmap& record) {
    const uint64_t end =
        record.address + record.length < record.address ? ~uint64_t{0} : record.address + record.length;
    if (end != record.address) ranges_.insert(behind(record.address), {record.address, end});
  }
  bool has(uint64_t address) const {
    const auto after = behind(address);
    return after != ranges_.begin() && address < std::prev(after)->end;
  }

 private:
  struct Range {
    uint64_t start = 0, end = 0;
  };
  std::vector<Range>::const_iterator behind(uint64_t address) const {
    return std::upper_bound(ranges_.begin(), ranges_.end(), address,
                            [](uint64_t start, const Range& range) { return start < range.start; });
  }
  std::vector<Range> ranges_;  ///< sorted by start
};

}  // namespace cacheline::sharing
