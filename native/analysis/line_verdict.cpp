// Competing actors' samples, put before waitingOf().
#include "analysis/line_verdict.h"

#include <algorithm>

namespace cacheline::analysis {

LineVerdict judgeLine(const LineAccesses& line, const JudgeBy& by, bool chance) {
  LineVerdict result;
  result.judgement = judge(line.actors, by);
  if (!result.judgement.competing) return result;
  result.verdict = Verdict::readShared;
  if (!result.judgement.contended()) return result;
  std::vector<PlaceSample> samples;
  std::copy_if(line.samples.begin(), line.samples.end(), std::back_inserter(samples),
               [&](const PlaceSample& sample) {
                 return result.judgement.competes[line.visitors[sample.visitor].actor];
               });
  std::vector<KnownUse> known;
  std::copy_if(line.known.begin(), line.known.end(), std::back_inserter(known),
               [&](const KnownUse& use) { return result.judgement.competes[use.actor]; });
  result.waiting =
      waitingOf({line.uses, samples, line.visitors, &result.judgement.pairs, known, line.steps}, chance);
  result.verdict = verdictOf(result.waiting->line.share(), !result.waiting->victims.empty());
  return result;
}

}  // namespace cacheline::analysis
