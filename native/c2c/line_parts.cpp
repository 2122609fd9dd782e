// Verdicts, threads and names of lines.
#include "c2c/line_parts.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "analysis/verdict.h"

namespace cacheline::c2c {

LineJudgement LineParts::judge(const Line& from) const {
  const AccessTable& table = collector_.table;
  std::vector<RowCode> codes;
  for (uint32_t row = from.firstRow; row != kNone; row = table.row(row).next) {
    const Code::Entry& code = code_.entry(table.row(row).site);
    codes.push_back({&code.facts, mix(code.elfAddress, code.binary), mix(code.function, code.binary)});
  }
  const uint32_t neighbour = pairs_ ? kNone : table.find(from.space, from.offset ^ lineSize_);
  const bool adjacent = neighbour != kNone && table.line(neighbour).shared();
  LineJudgement judgement = judgeLine(table, from, (pairs_ ? 2 : 1) * lineSize_, codes, display_, adjacent);
  // Where samples show no sharing, or readers alone, what was seen access by access decides.
  if (const analysis::WatchedLine* watched = watchedAt(from); watched != nullptr) {
    const analysis::Verdict seen = analysis::verdictOf(watched->seen, analysis::turnsOf(watched->seen));
    if (judgement.verdict == analysis::Verdict::privateLine ||
        (judgement.verdict == analysis::Verdict::readShared && isContended(seen)))
      judgement.verdict = seen;
  }
  return judgement;
}

analysis::Line LineParts::head(const Line& from, LineJudgement& judgement) const {
  const analysis::LineSpace& space = collector_.lineSpaces[from.space];
  analysis::Line line;
  line.address = from.address;
  line.space = space.label();
  if (space.shared) line.fileOffset = from.offset;
  line.verdict = judgement.verdict;
  line.flags = std::move(judgement.flags);
  if (!isContended(judgement.verdict)) return line;
  line.falseShare.emplace();
  if (!judgement.waiting) return line;
  line.falseShare = judgement.waiting->line.share();
  line.words = judgement.waiting->words;
  line.causes = judgement.waiting->causes;
  std::vector<uint32_t> tids(from.uses);
  for (uint32_t index = from.firstUse; index != kNone; index = collector_.table.use(index).next) {
    const Use& use = collector_.table.use(index);
    tids[use.ordinal] = collector_.threads[use.thread].tid;
  }
  for (const analysis::WaitVictim& each : judgement.waiting->victims) {
    analysis::Victim& victim = line.victims.emplace_back();
    victim.words = each.words;
    for (const uint32_t visitor : each.visitors) victim.threads.push_back(tids[visitor]);
    std::sort(victim.threads.begin(), victim.threads.end());
    victim.contended = static_cast<uint64_t>(std::llround(each.waiting));
    victim.falseShare = each.falseShare;
    // Until the rows are listed they are those of the waiting.
    victim.access = each.use;
    victim.cause = each.cause;
  }
  return line;
}

void LineParts::addWaits(const LineJudgement& judgement, size_t row, analysis::Access& access) const {
  access.waits = waitsOf(judgement, row, access.contended);
  access.falseShare = falseShareOf(judgement, row);
  if (!judgement.waiting) return;
  const auto& [loads, stores] = judgement.rows[row];
  if (const uint32_t use = loads != kNone ? loads : stores; use != kNone)
    access.word = judgement.waiting->wordOf[use];
}

void LineParts::addThreads(const Line& line, std::span<const BitSet* const> users,
                           analysis::Access& access) const {
  const AccessTable& table = collector_.table;
  for (uint32_t index = line.firstUse; index != kNone; index = table.use(index).next) {
    const Use& use = table.use(index);
    if (std::ranges::none_of(users, [&](const BitSet* set) { return set->has(use.ordinal); })) continue;
    access.threads.push_back(collector_.threads[use.thread].tid);
    access.processes.push_back(collector_.threads[use.thread].pid);
  }
  for (std::vector<uint32_t>* list : {&access.threads, &access.processes}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
}

std::optional<analysis::StackOwner> LineParts::stackOwner(const Line& line) const {
  analysis::StackOwners::Span span;
  for (uint32_t use = line.firstUse; use != kNone; use = collector_.table.use(use).next)
    span.add(collector_.table.use(use).runs);
  return collector_.stacks.of(line.region, collector_.lineSpaces[line.space].pid, span);
}

void LineParts::nameData(const Line& line, const Row& row, bool onlySums, analysis::Access& access,
                         analysis::TypedRows& rows) const {
  analysis::RowData data;
  data.onlySums = onlySums;
  data.position = {line.space, row.offset};
  data.sites = std::span(&row.site, 1);
  data.codeBinary = code_.entry(row.site).binary;
  data.width = access.width;
  if (collector_.lineSpaces[line.space].kernel) {
    data.data.address = line.address + access.offset;
    rows.addKernel(collector_.kernel->data(data.data.address), data, access);
    return;
  }
  if (line.region == analysis::kNone) {
    access.data.object = "[unknown]";
    access.data.offset = access.offset;
    access.data.because = "nothing is known to be mapped at the address";
    rows.addUntyped(access, {});
    return;
  }
  data.data = collector_.names.name(line.region, collector_.isStack(line), stackOwner_,
                                    line.address + access.offset, row.offset);
  rows.add(data, access);
  if (access.data.how == analysis::How::unknown && !collector_.places.site(row.site).exact)
    access.data.because = "the samples do not say exactly which instruction made the access";
}

}  // namespace cacheline::c2c
