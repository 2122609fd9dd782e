// Competing actors' samples, put before waitingOf().
#include "analysis/line_verdict.h"

#include <algorithm>

namespace cacheline::analysis {

namespace {

bool spansOverlap(std::span<const Run> a, std::span<const Run> b) {
  return !a.empty() && !b.empty() && a.front().start <= b.back().end && b.front().start <= a.back().end;
}

}  // namespace

LineVerdict judgeLine(const LineAccesses& line, const JudgeBy& by, bool chance) {
  LineVerdict result;
  result.judgement = judge(line.actors, by);
  if (!result.judgement.competing) return result;
  result.verdict = Verdict::readShared;
  if (!result.judgement.contended()) return result;
  // What follows takes memory for each pair of visitors: those of other actors, which may be any number, are
  // left out.
  std::vector<Visitor> visitors;
  std::vector<uint32_t> number(line.visitors.size()), original;
  for (uint32_t i = 0; i < line.visitors.size(); ++i) {
    if (!result.judgement.competes[line.visitors[i].actor]) continue;
    number[i] = static_cast<uint32_t>(visitors.size());
    visitors.push_back(line.visitors[i]);
    original.push_back(i);
  }
  std::span<const PlaceSample> samples = line.samples;
  std::vector<PlaceSample> some;
  if (visitors.size() < line.visitors.size()) {
    for (PlaceSample sample : line.samples) {
      if (!result.judgement.competes[line.visitors[sample.visitor].actor]) continue;
      sample.visitor = number[sample.visitor];
      some.push_back(sample);
    }
    samples = some;
  }
  std::vector<KnownUse> known;
  std::copy_if(line.known.begin(), line.known.end(), std::back_inserter(known),
               [&](const KnownUse& use) { return result.judgement.competes[use.actor]; });
  result.waiting =
      waitingOf({line.uses, samples, visitors, &result.judgement.pairs, known, line.steps}, chance, by.pairs);
  for (WaitVictim& victim : result.waiting->victims)
    for (uint32_t& visitor : victim.visitors) visitor = original[visitor];
  result.verdict = verdictOf(result.waiting->line.share(), !result.waiting->victims.empty());
  return result;
}

LineVerdict judgeAnswered(const LineAccesses& line, bool chance, bool pairs) {
  JudgeBy by;
  by.written = true;
  by.pairs = pairs;
  LineVerdict verdict = judgeLine(line, by, chance);
  if (verdict.verdict != Verdict::privateLine) return verdict;
  by.competing = spansOverlap;
  return judgeLine(line, by, chance);
}

}  // namespace cacheline::analysis
