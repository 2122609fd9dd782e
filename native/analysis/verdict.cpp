// Competing actors, and the flags that follow from bytes and actors alone.
#include "analysis/verdict.h"

#include <algorithm>
#include <numeric>

#include "analysis/turns.h"

namespace cacheline::analysis {

const char* verdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::falseSharing:
      return "false sharing";
    case Verdict::trueSharing:
      return "true sharing";
    case Verdict::mixed:
      return "mixed";
    case Verdict::readShared:
      return "read-shared";
    case Verdict::privateLine:
      return "private";
  }
  return "private";
}

ByteMask bytesFrom(uint64_t from, uint64_t width, uint32_t lineSize) {
  const uint64_t end = std::min<uint64_t>(from + std::max<uint64_t>(width, 1), lineSize);
  ByteMask mask;
  for (uint64_t i = from; i < end; ++i) mask.set(i);
  return mask;
}

/// All, or those with most samples.
std::vector<size_t> comparedOf(std::span<const LineActor> actors) {
  std::vector<size_t> list(actors.size());
  std::iota(list.begin(), list.end(), 0);
  if (list.size() <= kMostActors) return list;
  const auto samples = [&](size_t actor) {
    uint64_t sum = 0;
    for (const Run& run : actors[actor].runs) sum += run.count;
    return sum;
  };
  std::stable_sort(list.begin(), list.end(), [&](size_t a, size_t b) { return samples(a) > samples(b); });
  list.resize(kMostActors);
  std::sort(list.begin(), list.end());
  return list;
}

std::string leftOutOfPairs(uint64_t lines) {
  if (lines == 0) return {};
  return std::to_string(lines) + (lines == 1 ? " line is" : " lines are") + " used by more than " +
         std::to_string(kMostActors) +
         " threads: only those with the most samples were checked for competition.";
}

Judgement judge(std::span<const LineActor> actors, const JudgeBy& by, const TurnPairs* turns) {
  Judgement result;
  result.competes.assign(actors.size(), false);
  result.written = by.written;
  const std::vector<size_t> compared = comparedOf(actors);
  result.leftOut = actors.size() - compared.size();
  std::vector<std::pair<size_t, size_t>> pairs;
  for (auto i = compared.begin(); i != compared.end(); ++i) {
    for (auto j = i + 1; j != compared.end(); ++j) {
      const LineActor &a = actors[*i], &b = actors[*j];
      if (a.thread == b.thread && a.thread != LineActor::kNoThread) continue;
      if (!by.competing(a.runs, b.runs)) continue;
      if (turns != nullptr && turns->contains(*i, *j)) {
        result.turns.resize(actors.size());
        result.turns[*i] = result.turns[*j] = true;
        continue;
      }
      pairs.emplace_back(*i, *j);
      result.competes[*i] = result.competes[*j] = true;
    }
  }
  if (pairs.empty()) return result;
  result.competing = true;
  result.pairs.resize(actors.size());
  for (const size_t actor : compared)
    if (result.competes[actor]) result.pairs[actor].resize(actors.size());
  for (const auto& [i, j] : pairs) result.pairs[i][j] = result.pairs[j][i] = true;

  ByteMask written;
  for (size_t i = 0; i < actors.size(); ++i) {
    if (!result.competes[i]) continue;
    written |= actors[i].written;
  }
  result.written |= written.any();
  result.mixedUse = std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
    const LineActor &a = actors[pair.first], &b = actors[pair.second];
    return (a.written.any() && (b.read & ~written).any()) || (b.written.any() && (a.read & ~written).any());
  });
  return result;
}

}  // namespace cacheline::analysis
