// The names of all counters.
#include "sharing/memory_statistics.h"

#include <optional>

namespace cacheline::sharing {

void addStatistics(const Survey& survey, analysis::Report& report) {
  const Tally& all = survey.totals.tally;
  const auto known = [](bool isKnown, uint64_t number) {
    return isKnown ? std::optional(number) : std::nullopt;
  };
  report.stats = {{"records", all[Counter::records]},
                  {"locked", all[Counter::locked]},
                  {"loads", all[Counter::loads]},
                  {"ldUncacheable", all[Counter::ldUncacheable]},
                  {"ldIo", all[Counter::ldIo]},
                  {"ldMiss", all[Counter::ldMiss]},
                  {"ldNoAddress", all[Counter::ldNoAddress]},
                  {"ldFillBuffer", all[Counter::ldFillBuffer]},
                  {"ldL1", all[Counter::ldL1]},
                  {"ldL2", all[Counter::ldL2]},
                  {"ldLlc", all[Counter::ldLlc] + all[Counter::localHitm]},
                  {"localHitm", known(report.hitmKnown, all[Counter::localHitm])},
                  {"remoteHitm", known(report.hitmKnown, all[Counter::remoteHitm])},
                  {"remoteHit", all[Counter::remoteHit]},
                  {"localPeer", known(report.peerKnown, all[Counter::localPeer])},
                  {"remotePeer", known(report.peerKnown, all[Counter::remotePeer])},
                  {"localDram", all[Counter::localDram]},
                  {"remoteDram", all[Counter::remoteDram]},
                  {"ldExclusive", all[Counter::ldExclusive]},
                  {"ldShared", all[Counter::ldShared]},
                  {"blockedData", all[Counter::blockedData]},
                  {"blockedAddress", all[Counter::blockedAddress]},
                  {"stores", all[Counter::stores]},
                  {"stUncacheable", all[Counter::stUncacheable]},
                  {"stNoAddress", all[Counter::stNoAddress]},
                  {"stL1Hit", all[Counter::stL1Hit]},
                  {"stL1Miss", all[Counter::stL1Miss]},
                  {"stNa", all[Counter::stNa]},
                  {"noMap", all[Counter::noMap]},
                  {"noParse", all[Counter::noParse]}};
  const SharedLines& shared = survey.shared;
  const RowTally& sum = shared.tally;
  report.shared = {{"lines", shared.lines},
                   {"loads", shared.loads},
                   {"fillBuffer", sum[RowCounter::fillBuffer]},
                   {"l1", sum[RowCounter::l1]},
                   {"l2", sum[RowCounter::l2]},
                   {"llc", sum[RowCounter::llc] + sum[RowCounter::localHitm]},
                   {"peer", sum.peer()},
                   {"locked", shared.locked},
                   {"blocked", shared.blocked},
                   {"stores", sum[RowCounter::stores]},
                   {"stL1Hit", sum[RowCounter::stL1Hit]},
                   {"stNa", sum[RowCounter::stNa]},
                   {"merged", sum.hitm() + sum[RowCounter::stores]}};
}

}  // namespace cacheline::sharing
