// The amounts of each measure.
#include "profile/measure.h"

#include <algorithm>
#include <utility>

namespace cacheline::profile {

namespace {

constexpr std::pair<std::string_view, Measure> kMeasures[] = {
    {"hitm", Measure::hitm}, {"localHitm", Measure::localHitm}, {"remoteHitm", Measure::remoteHitm},
    {"peer", Measure::peer}, {"latency", Measure::latency},     {"contended", Measure::contended}};

/// Of all measures but latency.
double samplesOf(const analysis::MemoryCounts* counts, uint64_t contended, Measure measure) {
  if (measure == Measure::contended) return static_cast<double>(contended);
  if (counts == nullptr) return 0;
  switch (measure) {
    case Measure::hitm:
      return static_cast<double>(counts->localHitm + counts->remoteHitm);
    case Measure::localHitm:
      return static_cast<double>(counts->localHitm);
    case Measure::remoteHitm:
      return static_cast<double>(counts->remoteHitm);
    case Measure::peer:
      return static_cast<double>(counts->localPeer + counts->remotePeer);
    case Measure::latency:
    case Measure::contended:
      break;
  }
  return 0;
}

/// Of all loads: of each kind their number times their mean, as a report's reader adds them up.
double cyclesOf(const analysis::Access& access) {
  if (!access.memory || !access.memory->cycles) return 0;
  const analysis::MemoryCounts& counts = access.memory->counts;
  const analysis::Cycles& means = *access.memory->cycles;
  double cycles = 0, others = static_cast<double>(access.loads);
  for (const auto& [count, mean] :
       {std::pair(counts.localHitm, means.localHitm), std::pair(counts.remoteHitm, means.remoteHitm),
        std::pair(counts.localPeer, means.localPeer), std::pair(counts.remotePeer, means.remotePeer)}) {
    cycles += static_cast<double>(count) * mean;
    others -= static_cast<double>(count);
  }
  return cycles + std::max(0.0, others) * means.load;
}

}  // namespace

std::optional<Measure> measureOf(std::string_view name) {
  for (const auto& [known, measure] : kMeasures)
    if (known == name) return measure;
  return std::nullopt;
}

double amountOf(const analysis::Access& access, Measure measure) {
  if (measure == Measure::latency) return cyclesOf(access);
  return samplesOf(access.memory ? &access.memory->counts : nullptr, access.contended, measure);
}

double amountOf(const analysis::Line& line, Measure measure) {
  if (measure != Measure::latency)
    return samplesOf(line.memory ? &*line.memory : nullptr, line.contended, measure);
  double sum = 0;
  for (const analysis::Access& access : line.accesses) sum += amountOf(access, measure);
  return sum;
}

}  // namespace cacheline::profile
