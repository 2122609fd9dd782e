// Call chains by what was sampled.
#include "analysis/caller_table.h"

#include <algorithm>

namespace cacheline::analysis {

void CallerTable::add(uint32_t key, std::span<const uint32_t> frames, uint64_t records, uint64_t hitm) {
  bytes_.assign(reinterpret_cast<const char*>(&key), sizeof key);
  bytes_.append(reinterpret_cast<const char*>(frames.data()), frames.size_bytes());
  auto it = index_.find(bytes_);
  if (it == index_.end()) {
    if (chains_.size() == kMaxChains) {
      leftOut_ += records;
      return;
    }
    byKey_[key].push_back(static_cast<uint32_t>(chains_.size()));
    it = index_.emplace(bytes_, static_cast<uint32_t>(chains_.size())).first;
    chains_.push_back({key, {frames.begin(), frames.end()}, 0, 0});
  }
  Chain& chain = chains_[it->second];
  chain.records += records;
  chain.hitm += hitm;
}

void CallerTable::add(const CallerTable& other) {
  for (const Chain& chain : other.chains_) add(chain.key, chain.frames, chain.records, chain.hitm);
  leftOut_ += other.leftOut_;
}

std::vector<Callers> CallerTable::of(uint32_t key, const std::function<uint64_t(uint32_t)>& addressOf,
                                     const std::function<CallerFrame(uint32_t)>& nameOf) const {
  constexpr size_t kListed = 10;
  const auto it = byKey_.find(key);
  if (it == byKey_.end()) return {};
  std::vector<const Chain*> sorted;
  for (const uint32_t chain : it->second) sorted.push_back(&chains_[chain]);
  const auto listed = sorted.begin() + static_cast<ptrdiff_t>(std::min(sorted.size(), kListed));
  const auto byAddress = [&](uint32_t a, uint32_t b) { return addressOf(a) < addressOf(b); };
  std::partial_sort(sorted.begin(), listed, sorted.end(), [&](const Chain* a, const Chain* b) {
    return a->records != b->records ? a->records > b->records
                                    : std::ranges::lexicographical_compare(a->frames, b->frames, byAddress);
  });
  sorted.erase(listed, sorted.end());
  std::vector<Callers> list;
  for (const Chain* chain : sorted) {
    Callers& callers = list.emplace_back(Callers{chain->records, chain->hitm, {}});
    for (const uint32_t frame : chain->frames) callers.frames.push_back(nameOf(frame));
  }
  return list;
}

std::string CallerTable::leftOutWarning() const {
  if (leftOut_ == 0) return "";
  return "More than " + std::to_string(kMaxChains) + " different call chains: " + std::to_string(leftOut_) +
         " samples are counted under no caller.";
}

CallerFrame callerFrame(uint64_t address, const CodeName& name) {
  return {address + 1, name.inlined.empty() ? name.symbol : name.inlined.front().function,
          name.object, name.file,
          name.line,   name.inlined};
}

}  // namespace cacheline::analysis
