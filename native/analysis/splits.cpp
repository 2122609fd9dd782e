// Parts of time, and whole numbers shared out.
#include "analysis/splits.h"

#include <algorithm>
#include <numeric>

#include "perfdata/reader.h"

namespace cacheline::analysis {

uint32_t TimeBins::of(uint64_t time) const {
  if (!perfdata::isTime(time) || time < first || time > last) return kNoSplit;
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint32_t>(Wide{time - first} * count / (Wide{last - first} + 1));
}

double TimeBins::secondsAt(uint32_t bin) const {
  const double since = static_cast<double>(first - std::min(first, origin));
  return (since + static_cast<double>(last - first) * bin / count) / 1e9;
}

const char* unplacedReasonName(UnplacedReason reason) {
  switch (reason) {
    case UnplacedReason::kernel:
      return "kernel";
    case UnplacedReason::noInstruction:
      return "noInstruction";
    case UnplacedReason::noMemoryOperand:
      return "noMemoryOperand";
    case UnplacedReason::clobbered:
      return "clobbered";
    case UnplacedReason::threadLocal:
      return "threadLocal";
    case UnplacedReason::unmapped:
      return "unmapped";
  }
  return "";
}

void MemoryCounts::add(const MemoryCounts& other) {
  for (uint64_t MemoryCounts::*count :
       {&MemoryCounts::localHitm, &MemoryCounts::remoteHitm, &MemoryCounts::localPeer,
        &MemoryCounts::remotePeer, &MemoryCounts::fillBuffer, &MemoryCounts::l1, &MemoryCounts::l2,
        &MemoryCounts::llc, &MemoryCounts::remoteHit, &MemoryCounts::localDram, &MemoryCounts::remoteDram,
        &MemoryCounts::storeL1Hit, &MemoryCounts::storeL1Miss, &MemoryCounts::storeNa})
    this->*count += other.*count;
}

std::vector<uint64_t> shareOut(uint64_t total, const std::vector<uint64_t>& weights) {
  __extension__ using Wide = unsigned __int128;
  const uint64_t sum = std::accumulate(weights.begin(), weights.end(), uint64_t{0});
  if (sum == 0) {
    if (weights.empty() || total == 0) return std::vector<uint64_t>(weights.size());
    return shareOut(total, std::vector<uint64_t>(weights.size(), 1));
  }
  std::vector<uint64_t> shares, rests;
  uint64_t given = 0;
  for (const uint64_t weight : weights) {
    const Wide product = Wide{total} * weight;
    shares.push_back(static_cast<uint64_t>(product / sum));
    rests.push_back(static_cast<uint64_t>(product % sum));
    given += shares.back();
  }
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rests[a] > rests[b]; });
  for (size_t i = 0; given < total; ++i, ++given) ++shares[order[i]];
  return shares;
}

}  // namespace cacheline::analysis
