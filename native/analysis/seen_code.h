// Where each thread was seen running: decides whether a sample at a join of control flow fell into it.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "base/hash.h"
#include "perfdata/reader.h"

namespace cacheline::analysis {

/// A pass over the samples alone, before the one that attributes them. Its size is bounded by threads x code
/// addresses.
class SeenCode : public perfdata::RecordVisitor {
 public:
  void onSample(const perfdata::Sample& sample) override;
  /// Call once after the pass, before asking.
  void finish();
  /// Whether a thread was sampled at an address in [from, to). Addresses of the process.
  bool contains(uint32_t pid, uint32_t tid, uint64_t from, uint64_t to) const;

 private:
  struct Key {
    uint64_t ip = 0;
    uint32_t pid = 0, tid = 0;
    bool operator==(const Key&) const = default;
    auto order() const { return std::tuple(pid, tid, ip); }
    size_t hash() const { return mix(ip, (uint64_t{pid} << 32) | tid); }
  };
  struct Nothing {};
  HashMap<Key, Nothing> found_;
  std::vector<Key> sorted_;
};

}  // namespace cacheline::analysis
