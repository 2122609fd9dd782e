// The head of a line.
#include "sharing/line_head.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "analysis/line_history.h"
#include "analysis/use_pairs.h"

namespace cacheline::sharing {

namespace {

std::shared_ptr<analysis::LineHistory> historyOf(const Collected& collected, const Line& from,
                                                 const LineJudgement& judgement) {
  auto history = std::make_shared<analysis::LineHistory>();
  history->accesses = *judgement.accesses;
  for (uint32_t use = 0; use < history->accesses.uses.size(); ++use) history->rows.emplace_back(use);
  history->actors.resize(from.actors);
  for (uint32_t index = from.firstActor; index != kNone; index = collected.table.actor(index).next)
    history->actors[collected.table.actor(index).ordinal] = collected.table.actor(index).actor;
  for (const analysis::Visitor& visitor : judgement.visitors) history->threads.push_back(visitor.thread);
  return history;
}

}  // namespace

analysis::Line headOf(const Collected& collected, const Line& from, const LineJudgement& judgement) {
  const analysis::LineSpace& space = collected.lineSpaces[from.space];
  analysis::Line line;
  line.address = from.address;
  line.space = space.label();
  if (space.shared) line.fileOffset = from.offset;
  line.verdict = judgement.verdict;
  line.flags = judgement.flags();
  line.ifWritten = judgement.ifWritten;
  if (judgement.accesses) line.history = historyOf(collected, from, judgement);
  if (!isContended(judgement.verdict)) return line;
  line.falseShare.emplace();
  if (!judgement.waiting) return line;
  line.falseShare = judgement.waiting->line.share();
  line.words = judgement.waiting->words;
  line.causes = judgement.waiting->causes;
  if (judgement.waiting->pairs) line.pairs = std::make_shared<analysis::UsePairs>(*judgement.waiting->pairs);
  for (const analysis::WaitVictim& each : judgement.waiting->victims) {
    analysis::Victim& victim = line.victims.emplace_back();
    victim.words = each.words;
    for (const uint32_t visitor : each.visitors)
      victim.threads.push_back(collected.threads[judgement.visitors[visitor].thread].tid);
    sortUnique(victim.threads);
    victim.contended = static_cast<uint64_t>(std::llround(each.waiting));
    victim.falseShare = each.falseShare;
    victim.access = each.use;
    victim.cause = each.cause;
  }
  return line;
}

void placeUses(const std::function<std::optional<uint32_t>(uint32_t)>& accessOf, analysis::Line& line) {
  for (analysis::Victim& victim : line.victims)
    for (std::optional<uint32_t>* use : {&victim.access, &victim.cause})
      if (*use) *use = accessOf(**use);
  if (line.pairs)
    for (analysis::UsePairs::Use& use : line.pairs->uses)
      if (use.access) use.access = accessOf(*use.access);
  if (!line.history) return;
  for (std::optional<uint32_t>& use : line.history->rows)
    if (use) use = accessOf(*use);
}

void addSplitNames(const Collected& collected, const analysis::CpuNodes& nodes, analysis::Report& report) {
  analysis::Splits& splits = *report.splits;
  for (uint32_t i = 0; i < collected.threads.size(); ++i) {
    const analysis::Thread& thread = collected.threads[i];
    splits.threads.push_back(
        {thread.pid, thread.tid, thread.comm, collected.timeline.threadName(thread.pid, thread.pid)});
  }
  uint32_t cpus = 0;
  const auto see = [&cpus](const analysis::SplitPlace& place) {
    if (place.cpu != analysis::kNoSplit) cpus = std::max(cpus, place.cpu + 1);
  };
  for (const analysis::Line& line : report.lines)
    for (const analysis::Access& access : line.accesses)
      for (const analysis::AccessSplit& split : access.splits) see(split.place);
  for (const analysis::UnplacedSamples& each : splits.unplaced) see(each.place);
  for (uint32_t cpu = 0; cpu < std::min(cpus, uint32_t{MemoryAccess::kNoCpu}); ++cpu)
    splits.nodes.push_back(nodes.of(cpu));
}

std::optional<analysis::StackOwner> stackOwnerOf(const Collected& collected, const Line& line) {
  analysis::StackOwners::Span span;
  for (uint32_t actor = line.firstActor; actor != kNone; actor = collected.table.actor(actor).next)
    span.add(collected.table.actor(actor).runs);
  return collected.stacks.of(line.region, collected.lineSpaces[line.space].pid, span);
}

void sortThreads(analysis::Line& line) {
  std::sort(line.threads.begin(), line.threads.end(),
            [](const auto& a, const auto& b) { return std::tie(a.pid, a.tid) < std::tie(b.pid, b.tid); });
}

}  // namespace cacheline::sharing
