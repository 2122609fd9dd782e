// Verdicts, threads and names of lines.
#include "sharing/memory_lines.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>
#include <vector>

#include "analysis/verdict.h"
#include "base/job_queue.h"

namespace cacheline::sharing {

namespace {

constexpr size_t kBlock = 32;  ///< lines that a thread judges at a time

}  // namespace

void MemoryLines::judge(std::span<const SelectedLine> lines,
                        const std::function<void(size_t, const LineJudgement&)>& take) const {
  std::deque<Block> blocks;  // in the order of the lines
  JobQueue<Block*> others(threads_, JobQueue<Block*>::Behind::help,
                          [this](unsigned, Block* block) { judgeBlock(*block); });
  size_t taken = 0;
  const auto takeDone = [&] {
    for (; !blocks.empty() && blocks.front().done.load(std::memory_order_acquire); blocks.pop_front())
      for (const LineJudgement& judgement : blocks.front().judgements) take(taken++, judgement);
  };
  for (size_t first = 0; first < lines.size(); first += kBlock) {
    addRows(blocks.emplace_back(lines.subspan(first, std::min(kBlock, lines.size() - first))));
    others.put(&blocks.back());
    takeDone();
  }
  others.finish();
  takeDone();
}

/// Looks up the facts of code, which one thread does.
void MemoryLines::addRows(Block& block) const {
  const AccessTable& table = collector_.table;
  for (const SelectedLine& line : block.lines) {
    block.rowsFrom.push_back(block.rows.size());
    for (uint32_t index = line.line->firstRow; index != kNone; index = table.row(index).next) {
      const Row& row = table.row(index);
      const Code::Entry& code = code_.entry(row.location);
      block.rows.push_back(
          {&row, &code.facts, mix(code.elfAddress, code.binary), mix(code.function, code.binary)});
    }
  }
  block.rowsFrom.push_back(block.rows.size());
}

void MemoryLines::judgeBlock(Block& block) const {
  const std::span<const LineRow> rows = block.rows;
  for (size_t i = 0; i < block.lines.size(); ++i) {
    const size_t from = block.rowsFrom[i];
    block.judgements.push_back(
        judgeLine(*block.lines[i].line, rows.subspan(from, block.rowsFrom[i + 1] - from)));
  }
  block.done.store(true, std::memory_order_release);
}

LineJudgement MemoryLines::judgeLine(const Line& from, std::span<const LineRow> rows) const {
  const AccessTable& table = collector_.table;
  LineJudgement judgement = sharing::judgeLine(table, from, rows, policy_);
  const uint32_t neighbour = pairs_ ? kNone : table.find(from.space, from.offset ^ lineSize_);
  judgement.adjacent = neighbour != kNone && table.line(neighbour).shared() && isContended(judgement.verdict);
  if (const analysis::WatchedLine* watched = watchedAt(from)) judgeByWatch(*watched, judgement);
  return judgement;
}

void MemoryLines::addWaits(const LineJudgement& judgement, size_t row, analysis::Access& access) const {
  if (!judgement.waiting) return;
  access.waits = waitsOf(judgement, judgement.rows[row].loads, static_cast<double>(access.contended));
  access.falseShare = falseShareOf(judgement, row);
  if (const uint32_t use = judgement.rows[row].any(); use != kNone)
    access.word = judgement.waiting->wordOf[use];
}

void MemoryLines::addThreads(const Line& line, std::span<const BitSet* const> users,
                             analysis::Access& access) const {
  const AccessTable& table = collector_.table;
  for (uint32_t index = line.firstActor; index != kNone; index = table.actor(index).next) {
    const ActorStatistics& actor = table.actor(index);
    if (std::ranges::none_of(users, [&](const BitSet* set) { return set->has(actor.ordinal); })) continue;
    access.threads.push_back(collector_.threads[actor.actor].tid);
    access.processes.push_back(collector_.threads[actor.actor].pid);
  }
  sortUnique(access.threads);
  sortUnique(access.processes);
}

void MemoryLines::nameData(const Line& line, const Row& row, bool onlySums, analysis::Access& access,
                           analysis::TypedRows& rows) const {
  analysis::RowData data;
  data.onlySums = onlySums;
  data.position = {line.space, row.offset};
  data.locations = std::span(&row.location, 1);
  data.codeBinary = code_.entry(row.location).binary;
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
  if (access.data.how == analysis::How::unknown && !collector_.places.location(row.location).exact)
    access.data.because = "the samples do not say exactly which instruction made the access";
}

}  // namespace cacheline::sharing
