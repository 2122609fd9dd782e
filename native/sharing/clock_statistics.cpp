// What a clock recording can say of the statistics that memory recordings have.
#include "sharing/clock_statistics.h"

#include <initializer_list>
#include <vector>

namespace cacheline::sharing {

namespace {

void addUnknown(std::vector<analysis::Statistic>& list, std::initializer_list<const char*> names) {
  for (const char* name : names) list.emplace_back(name, std::nullopt);
}

}  // namespace

void addStatistics(const ClockCollector& collector, const SharedCounts& counts, analysis::Report& report) {
  std::vector<analysis::Statistic>& stats = report.stats;
  stats = {{"records", collector.samples}, {"locked", collector.locked}, {"loads", collector.loads}};
  addUnknown(stats, {"ldUncacheable", "ldIo", "ldMiss", "ldNoAddress", "ldFillBuffer", "ldL1", "ldL2",
                     "ldLlc", "localHitm", "remoteHitm", "remoteHit", "localPeer", "remotePeer", "localDram",
                     "remoteDram", "ldExclusive", "ldShared", "blockedData", "blockedAddress"});
  stats.emplace_back("stores", collector.stores);
  addUnknown(stats, {"stUncacheable", "stNoAddress", "stL1Hit", "stL1Miss"});
  stats.emplace_back("stNa", collector.stores);
  stats.emplace_back("noMap", collector.unattributed.unmapped);
  addUnknown(stats, {"noParse"});

  std::vector<analysis::Statistic>& shared = report.shared;
  shared = {{"lines", counts.lines}, {"loads", counts.loads}};
  addUnknown(shared, {"fillBuffer", "l1", "l2", "llc", "peer"});
  shared.emplace_back("locked", counts.locked);
  addUnknown(shared, {"blocked"});
  shared.emplace_back("stores", counts.stores);
  addUnknown(shared, {"stL1Hit"});
  shared.emplace_back("stNa", counts.stores);
  addUnknown(shared, {"merged"});
}

}  // namespace cacheline::sharing
