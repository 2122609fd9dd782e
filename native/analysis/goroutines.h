// Who is at work in Go programs. The scheduler moves goroutines between threads, and the stacks and data of
// one go with it: by thread, each of its bytes is soon everybody's.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/address_space.h"
#include "analysis/binaries.h"
#include "analysis/sharing_table.h"
#include "base/hash.h"
#include "base/registers.h"

namespace cacheline::analysis {

/// The accesses of Go programs once more, by goroutine. In Go's code since 1.18 (ABIInternal, x86-64) r14
/// holds the goroutine; what runs in other code counts by thread.
class Goroutines {
 public:
  /// Whether that is who was at work, not a thread of other code.
  static bool isGoroutine(const Use& use) { return use.thread >= kFirst; }
  Goroutines(uint32_t lineSize, Binaries& binaries) : binaries_(binaries), table_(lineSize) {}

  /// Whoever was at work makes the touch. `code`: the binary of the sampled instruction; `reached`: bytes, of
  /// an access that began in the line before (see SharingTable).
  void add(Touch touch, uint32_t reached, const AddressSpace& space, uint32_t code,
           const Registers& registers);
  const SharingTable& table() const { return table_; }

 private:
  struct Key {
    uint64_t goroutine = 0;
    uint32_t space = 0;
    bool operator==(const Key&) const = default;
    size_t hash() const { return mix(goroutine, space); }
  };
  static constexpr uint32_t kFirst = 1u << 31;  ///< of their numbers; smaller ones are threads
  bool keepsGoroutine(uint32_t binary);
  uint32_t indexOf(uint64_t goroutine, const AddressSpace& space);

  Binaries& binaries_;
  SharingTable table_;
  std::vector<int8_t> keeps_;       ///< by binary: -1 not looked yet
  HashMap<Key, uint32_t> indices_;  ///< kNone: what r14 holds there is no address
};

}  // namespace cacheline::analysis
