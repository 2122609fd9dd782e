// Who is at work: a thread, or in Go programs a goroutine. The scheduler moves goroutines between threads,
// and the stacks and data of one go with it: by thread, each of its bytes is soon everybody's.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/address_space.h"
#include "analysis/binaries.h"
#include "analysis/seen_code.h"
#include "base/hash.h"
#include "perfdata/reader.h"

namespace cacheline::sharing {

/// Samples of a goroutine, in the whole recording, from which on it is an actor of its own. What it does with
/// fewer counts for its threads.
inline constexpr uint64_t kGoroutineSamples = 8;

/// A visitor is an actor on a thread: those who compete for a line are actors, and only while they are on
/// different threads. In Go's code since 1.18 (ABIInternal, x86-64) r14 holds the goroutine.
class Visitors {
 public:
  /// `seen`: of the whole recording.
  Visitors(const analysis::SeenCode& seen, analysis::Binaries& binaries) : seen_(seen), binaries_(binaries) {}

  /// The visitor of a sample of that thread (dense index). `code`: the binary of the sampled instruction.
  uint32_t of(uint32_t thread, const analysis::AddressSpace& space, uint32_t code,
              const perfdata::Sample& sample);
  uint32_t actor(uint32_t visitor) const {
    return visitor < kFirst ? visitor : pairs_[visitor - kFirst].actor;
  }
  uint32_t thread(uint32_t visitor) const {
    return visitor < kFirst ? visitor : pairs_[visitor - kFirst].thread;
  }
  static bool isGoroutine(uint32_t actor) { return actor >= kFirst; }

 private:
  static constexpr uint32_t kFirst = 1u << 31;  ///< of the numbers of goroutines, and of their visitors
  struct Key {
    uint64_t goroutine = 0;
    uint32_t space = 0;
    bool operator==(const Key&) const = default;
    size_t hash() const { return mix(goroutine, space); }
  };
  struct Pair {
    uint32_t actor = 0, thread = 0;
    bool operator==(const Pair&) const = default;
    size_t hash() const { return mix(actor, thread); }
  };
  bool keepsGoroutine(uint32_t binary);
  uint32_t indexOf(uint64_t goroutine, const analysis::AddressSpace& space);

  const analysis::SeenCode& seen_;
  analysis::Binaries& binaries_;
  std::vector<int8_t> keeps_;  ///< by binary: -1 not looked yet
  HashMap<Key, uint32_t>
      actors_;  ///< analysis::kNone: what r14 holds there is no address, or was seen too rarely
  HashMap<Pair, uint32_t> visitors_;
  std::vector<Pair> pairs_;  ///< of goroutines
};

}  // namespace cacheline::sharing
