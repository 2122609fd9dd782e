// How often each thread was seen where, and each goroutine at all: evidence for the way that a sample at a
// join of control flow took, and for who is at work in Go programs.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "perfdata/reader.h"

namespace cacheline::analysis {

/// A pass over the samples alone, before the one that attributes them. Its size is bounded by threads x code
/// addresses.
class SeenCode : public perfdata::RecordVisitor {
 public:
  void onSample(const perfdata::Sample& sample) override;
  /// What another one has seen. Before finish().
  void add(const SeenCode& other);
  /// Call once after the pass, before asking.
  void finish();
  /// Samples of a thread at addresses in [from, to). Addresses of the process.
  uint64_t count(uint32_t pid, uint32_t tid, uint64_t from, uint64_t to) const;
  /// That were seen (pid, tid), ascending.
  std::vector<std::pair<uint32_t, uint32_t>> threads() const;
  /// Samples of a process with that value in r14.
  uint64_t countOfR14(uint32_t pid, uint64_t value) const;

 private:
  struct Key {
    uint64_t ip = 0;
    uint32_t pid = 0, tid = 0;
    bool operator==(const Key&) const = default;
    auto order() const { return std::tuple(pid, tid, ip); }
    size_t hash() const { return mix(ip, (uint64_t{pid} << 32) | tid); }
  };
  struct Place {
    Key key;
    uint64_t before = 0;  ///< samples at all places before it
  };
  struct R14Key {
    uint64_t value = 0;
    uint32_t pid = 0;
    bool operator==(const R14Key&) const = default;
    size_t hash() const { return mix(value, pid); }
  };
  size_t firstFrom(const Key& key) const;
  HashMap<Key, uint64_t> found_;
  HashMap<R14Key, uint32_t> ofR14_;
  std::vector<Place> sorted_;  ///< and one behind all
};

}  // namespace cacheline::analysis
