// Competing actors' samples, put before waitingOf().
#include "analysis/line_verdict.h"

#include <algorithm>

namespace cacheline::analysis {

namespace {

bool spansOverlap(std::span<const Run> a, std::span<const Run> b) {
  return !a.empty() && !b.empty() && a.front().start <= b.back().end && b.front().start <= a.back().end;
}

std::optional<LineTurns> turnsOf(const LineAccesses& line, const JudgeBy& by, const Judgement& judgement) {
  if (judgement.turns.empty()) return std::nullopt;
  LineTurns turns;
  turns.written = by.written;
  for (size_t actor = 0; actor < line.actors.size(); ++actor)
    turns.written |= judgement.turns[actor] && line.actors[actor].written.any();
  const PlaceSample* last = nullptr;
  for (const PlaceSample& sample : line.samples) {
    if (!judgement.turns[line.visitors[sample.visitor].actor]) continue;
    turns.oneCore |= last != nullptr && last->cpu != sample.cpu && !by.where->areApart(last->cpu, sample.cpu);
    last = &sample;
  }
  return turns;
}

/// Nobody competes after all.
void endCompetition(Judgement& judgement) {
  judgement.turns.resize(judgement.competes.size());
  for (size_t actor = 0; actor < judgement.competes.size(); ++actor)
    if (judgement.competes[actor]) judgement.turns[actor] = true;
  judgement.competes.assign(judgement.competes.size(), false);
  judgement.pairs.clear();
  judgement.competing = judgement.mixedUse = false;
}

}  // namespace

LineVerdict judgeLine(const LineAccesses& line, const JudgeBy& by, bool chance) {
  LineVerdict result;
  std::optional<TurnPairs> pairs;
  if (by.where != nullptr && by.where->everyCpu())
    pairs.emplace(line.samples, line.visitors, comparedOf(line.actors), *by.where);
  result.judgement = judge(line.actors, by, pairs ? &*pairs : nullptr);
  if (result.judgement.contended() && by.where != nullptr) {
    result.meanwhile =
        competitorsOf(line.samples, line.visitors, result.judgement.pairs, *by.where, by.threads);
    bool some = false;
    for (size_t i = 0; i < line.samples.size() && !some; ++i) some = result.counts(line, i);
    if (!some) endCompetition(result.judgement);
  }
  if (!result.judgement.competing) {
    result.turns = turnsOf(line, by, result.judgement);
    return result;
  }
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
  if (visitors.size() < line.visitors.size() || !result.meanwhile.empty()) {
    for (size_t i = 0; i < line.samples.size(); ++i) {
      PlaceSample sample = line.samples[i];
      if (!result.judgement.competes[line.visitors[sample.visitor].actor]) continue;
      sample.visitor = number[sample.visitor];
      sample.waits = result.counts(line, i);
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
