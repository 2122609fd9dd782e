// Call chains by site.
#include "c2c/caller_table.h"

#include <algorithm>

namespace cacheline::c2c {

void CallerTable::add(uint32_t site, std::span<const uint32_t> frames, bool hitm) {
  std::string key(reinterpret_cast<const char*>(&site), sizeof site);
  key.append(reinterpret_cast<const char*>(frames.data()), frames.size_bytes());
  auto it = index_.find(key);
  if (it == index_.end()) {
    if (chains_.size() == kMaxChains) {
      ++leftOut_;
      return;
    }
    bySite_[site].push_back(static_cast<uint32_t>(chains_.size()));
    it = index_.emplace(std::move(key), static_cast<uint32_t>(chains_.size())).first;
    chains_.push_back({{frames.begin(), frames.end()}, 0, 0});
  }
  Chain& chain = chains_[it->second];
  ++chain.records;
  chain.hitm += hitm ? 1 : 0;
}

std::vector<CallerTable::Chain> CallerTable::of(uint32_t site) const {
  std::vector<Chain> list;
  const auto it = bySite_.find(site);
  if (it == bySite_.end()) return list;
  for (const uint32_t chain : it->second) list.push_back(chains_[chain]);
  std::stable_sort(list.begin(), list.end(),
                   [](const Chain& a, const Chain& b) { return a.records > b.records; });
  return list;
}

}  // namespace cacheline::c2c
