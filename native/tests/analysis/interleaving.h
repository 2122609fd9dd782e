// A line's samples in time order, one thread name a sample, one time unit apart.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/interleave.h"

namespace cacheline::analysis::test {

class Interleaving {
 public:
  explicit Interleaving(const std::string& threads)
      : Interleaving(std::vector<uint32_t>(threads.begin(), threads.end())) {}
  explicit Interleaving(const std::vector<uint32_t>& threads) {
    constexpr uint64_t kUnit = 2'000'000;  // ns, about 499 Hz
    for (size_t i = 0; i < threads.size(); ++i) {
      RunList& list = lists_[threads[i]];
      if (i > 0 && threads[i - 1] == threads[i])
        list.extend(i * kUnit);
      else
        list.begin(i * kUnit);
    }
  }
  bool compete(uint32_t a, uint32_t b) const { return analysis::compete(runs(a), runs(b)); }
  std::vector<Run> runs(char thread) const { return runs(static_cast<uint32_t>(thread)); }
  std::vector<Run> runs(uint32_t thread) const {
    const auto it = lists_.find(thread);
    return it == lists_.end() ? std::vector<Run>() : it->second.runs();
  }

 private:
  std::map<uint32_t, RunList> lists_;
};

}  // namespace cacheline::analysis::test
