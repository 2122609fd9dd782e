// Bytes and runs of a line, put before analysis::judge().
#include "c2c/judge.h"

#include <algorithm>

namespace cacheline::c2c {

namespace {

bool spansOverlap(std::span<const analysis::Run> a, std::span<const analysis::Run> b) {
  return !a.empty() && !b.empty() && a.front().start <= b.back().end && b.front().start <= a.back().end;
}

analysis::ByteMask bytes(uint64_t from, uint32_t width, uint32_t lineSize) {
  analysis::ByteMask mask;
  const uint64_t end = std::min<uint64_t>(from + std::max(width, 1u), lineSize);
  for (uint64_t i = from; i < end; ++i) mask.set(i);
  return mask;
}

}  // namespace

LineJudgement judgeLine(const AccessTable& table, const Line& line, uint32_t lineSize,
                        const std::vector<CodeFacts>& facts, bool adjacent) {
  std::vector<analysis::LineThread> threads(line.uses);
  for (uint32_t index = line.firstUse; index != kNone; index = table.use(index).next)
    threads[table.use(index).ordinal].runs = table.use(index).runs.runs();

  bool straddles = false;
  auto fact = facts.begin();
  for (uint32_t index = line.firstRow; index != kNone; index = table.row(index).next, ++fact) {
    const Row& row = table.row(index);
    const uint64_t offset = row.offset - line.offset;
    const analysis::ByteMask mask = bytes(offset, fact->width, lineSize);
    straddles |= offset + fact->width > lineSize;
    const auto mark = [&](const BitSet& ordinals, bool reads, bool writes) {
      for (const uint32_t ordinal : ordinals.list()) {
        if (reads) threads[ordinal].read |= mask;
        if (writes) threads[ordinal].written |= mask;
        if (fact->swaps) threads[ordinal].swaps = true;
      }
    };
    mark(row.loaders, true, fact->writes);
    mark(row.storers, fact->reads, true);
  }

  const bool modifiedElsewhere = line.shared();
  analysis::JudgeBy by;
  by.written = modifiedElsewhere;
  analysis::Judgement judgement = analysis::judge(threads, by);
  if (judgement.verdict == analysis::Verdict::privateLine && modifiedElsewhere) {
    by.competing = spansOverlap;
    judgement = analysis::judge(threads, by);
  }

  LineJudgement result;
  result.verdict = judgement.verdict;
  result.competes = std::move(judgement.competes);
  if (straddles) result.flags.emplace_back("straddling");
  if (adjacent && analysis::isContended(result.verdict)) result.flags.emplace_back("adjacent");
  if (judgement.mixedUse) result.flags.emplace_back("mixed-use");
  if (judgement.lock) result.flags.emplace_back("lock");
  return result;
}

}  // namespace cacheline::c2c
