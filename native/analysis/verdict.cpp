// The five verdicts and the flags that follow from bytes and threads alone.
#include "analysis/verdict.h"

#include <utility>

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

Judgement judge(std::span<const LineThread> threads, const JudgeBy& by) {
  Judgement result;
  result.competes.assign(threads.size(), false);
  ByteMask shared;
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < threads.size(); ++i) {
    for (size_t j = i + 1; j < threads.size(); ++j) {
      if (!by.competing(threads[i].runs, threads[j].runs)) continue;
      pairs.emplace_back(i, j);
      result.competes[i] = result.competes[j] = true;
      shared |= (threads[i].read | threads[i].written) & (threads[j].read | threads[j].written);
    }
  }
  if (pairs.empty()) return result;

  ByteMask used, written;
  for (size_t i = 0; i < threads.size(); ++i) {
    if (!result.competes[i]) continue;
    used |= threads[i].read | threads[i].written;
    written |= threads[i].written;
    if (threads[i].swaps) result.lock = true;
  }
  if (written.none() && !by.written)
    result.verdict = Verdict::readShared;
  else if (shared.none())
    result.verdict = Verdict::falseSharing;
  else
    result.verdict = shared == used ? Verdict::trueSharing : Verdict::mixed;

  for (const auto& [i, j] : pairs) {
    const LineThread &a = threads[i], &b = threads[j];
    if ((a.written.any() && (b.read & ~written).any()) || (b.written.any() && (a.read & ~written).any())) {
      result.mixedUse = true;
      break;
    }
  }
  return result;
}

}  // namespace cacheline::analysis
