// Rows of lines that are not listed.
#include "sharing/summed_rows.h"

#include <algorithm>
#include <array>

namespace cacheline::sharing {

/// Nobody reads what their code is called.
void SummedRows::add(const std::vector<SelectedLine>& lines, analysis::TypedRows& rows) {
  const AccessTable& table = collector_.table;
  lines_.judge(lines, [&](size_t number, const LineJudgement& judgement) {
    const Line& from = *lines[number].line;
    const analysis::Line line = headOf(collector_, from, judgement);
    rows.beginLine(line);
    lines_.beginLine(from);
    rows_.clear();
    for (uint32_t index = from.firstRow; index != kNone; index = table.row(index).next)
      rows_.push_back({&table.row(index), static_cast<uint32_t>(rows_.size())});
    std::reverse(rows_.begin(), rows_.end());
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Numbered& a, const Numbered& b) { return a.row->offset < b.row->offset; });
    for (size_t i = 0; i < rows_.size(); ++i) {
      join(rows_[i], judgement);
      if (i + 1 == rows_.size() || rows_[i + 1].row->offset != rows_[i].row->offset) addAlike(from, rows);
    }
  });
}

void SummedRows::join(const Numbered& numbered, const LineJudgement& judgement) {
  const Row& row = *numbered.row;
  const AggregateSums sums = collector_.table.aggregateSums(row);
  const bool writes = sums[SumCounter::stores] != 0, placed = sums[SumCounter::records] != 0;
  if (!writes && metricOf(sums, display_) == 0) return;  // perf would not list it
  const Code::Entry& code = code_.entry(row.location);
  if (code.binary != analysis::kNone)
    collector_.binaries.countSamples(code.binary, sums[SumCounter::samples]);
  // Where blocks were recorded, each row may be of another one.
  const uint32_t kind = collector_.hasAllocations()
                            ? analysis::kNone
                            : collector_.objectEvidence.kindAt({row.space, row.offset}, row.location);
  analysis::Access waits;
  waits.contended = metricOf(sums, display_);
  lines_.addWaits(judgement, numbered.number, waits);
  const auto same = std::ranges::find_if(alike_, [&](const Alike& other) {
    return kind != analysis::kNone && other.kind == kind && other.width == code.facts.width &&
           (other.sums[SumCounter::stores] != 0) == writes &&
           (other.sums[SumCounter::records] != 0) == placed;
  });
  if (same == alike_.end()) {
    alike_.push_back({&row, code.facts.width, kind, sums, {&row.loaders, &row.storers}, std::move(waits)});
    return;
  }
  same->sums.add(sums);
  same->waits.waits.add(waits.waits);
  if (!same->waits.word) same->waits.word = waits.word;
  same->users.insert(same->users.end(), {&row.loaders, &row.storers});
}

void SummedRows::addAlike(const Line& line, analysis::TypedRows& rows) {
  for (const Alike& alike : alike_) {
    const AggregateSums& sums = alike.sums;
    analysis::Access access = alike.waits;
    access.offset = static_cast<uint32_t>(alike.row->offset - line.offset);
    access.width = alike.width;
    access.records = sums[SumCounter::records];
    access.loads = sums[SumCounter::loads];
    access.stores = sums[SumCounter::stores];
    access.contended = metricOf(sums, display_);
    lines_.addThreads(line, alike.users, access);
    analysis::MemoryEvidence& memory = access.memory.emplace();
    memory.counts.localHitm = sums[SumCounter::localHitm];
    memory.counts.remoteHitm = sums[SumCounter::remoteHitm];
    memory.counts.localPeer = sums[SumCounter::localPeer];
    memory.counts.remotePeer = sums[SumCounter::remotePeer];
    if (cycles_) {
      analysis::Cycles& cycles = memory.cycles.emplace();
      cycles.sum = sums.cycles;
      cycles.loads = sums[SumCounter::timed];
    }
    lines_.nameData(line, *alike.row, true, access, rows);
  }
  alike_.clear();
}

}  // namespace cacheline::sharing
