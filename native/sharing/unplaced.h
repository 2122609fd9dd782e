// Samples without a place on a line, counted by reason, code, thread, CPU and part of the time.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "analysis/splits.h"
#include "base/hash.h"
#include "sharing/data_source.h"
#include "sharing/split_table.h"

namespace cacheline::sharing {

class UnplacedTable {
 public:
  explicit UnplacedTable(const Splitting& by) : by_(by) {}

  /// `location`: of the code, kNoSplit: not known. `cpu`: as recorded. `time`: ns. `source`: of a memory
  /// sample, what it would count as if it had an address; else null.
  void add(analysis::UnplacedReason reason, uint32_t location, uint32_t thread, uint32_t cpu, uint64_t time,
           const SourceClass* source = nullptr) {
    Key key{reason, location, {thread, analysis::kNoSplit, analysis::kNoSplit}};
    if (by_.cpus) key.place.cpu = cpu;
    if (by_.bins) key.place.bin = by_.bins->of(time);
    Counts& counts = counts_[key];
    ++counts.samples;
    if (source == nullptr) return;
    counts.loads += source->load ? 1 : 0;
    counts.stores += source->store ? 1 : 0;
    counts.misses += source->missed ? 1 : 0;
    counts.tally.add(*source);
  }
  void add(const UnplacedTable& other) {
    for (const auto& [key, more] : other.counts_) {
      Counts& counts = counts_[key];
      counts.samples += more.samples;
      counts.loads += more.loads;
      counts.stores += more.stores;
      counts.misses += more.misses;
      counts.tally.add(more.tally);
    }
  }
  /// By reason, code and place.
  std::vector<analysis::UnplacedSamples> take(
      const std::function<analysis::SharedName(uint32_t location)>& nameOf) const {
    std::vector<std::pair<Key, Counts>> sorted(counts_.begin(), counts_.end());
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<analysis::UnplacedSamples> list;
    for (const auto& [key, counts] : sorted) {
      analysis::UnplacedSamples& each = list.emplace_back();
      each.reason = key.reason;
      each.place = key.place;
      each.samples = counts.samples;
      each.loads = counts.loads;
      each.stores = counts.stores;
      each.misses = counts.misses;
      each.counts = countsOf(counts.tally);
      each.codeKnown = key.location != analysis::kNoSplit;
      if (each.codeKnown) each.code = nameOf(key.location);
    }
    return list;
  }

 private:
  struct Key {
    analysis::UnplacedReason reason = analysis::UnplacedReason::kernel;
    uint32_t location = 0;
    analysis::SplitPlace place;
    auto operator<=>(const Key&) const = default;
    size_t hash() const {
      return mix(mix(uint64_t{location} << 3 | static_cast<uint64_t>(reason), place.thread),
                 (uint64_t{place.cpu} << 32) | place.bin);
    }
  };
  struct Counts {
    uint64_t samples = 0, loads = 0, stores = 0, misses = 0;
    RowTally tally;
  };
  const Splitting by_;
  HashMap<Key, Counts> counts_;
};

}  // namespace cacheline::sharing
