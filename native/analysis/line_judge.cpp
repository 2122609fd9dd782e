// Bytes and runs of every line, put before judge().
#include "analysis/line_judge.h"

#include <algorithm>

#include "analysis/goroutines.h"

namespace cacheline::analysis {

namespace {

/// Bytes [from, from + width) of a line, cut at its end. An access of unknown width touches one byte at
/// least.
ByteMask bytes(uint64_t from, uint64_t width, uint32_t lineSize) {
  const uint64_t end = std::min<uint64_t>(from + std::max<uint64_t>(width, 1), lineSize);
  ByteMask mask;
  for (uint64_t i = from; i < end; ++i) mask.set(i);
  return mask;
}

void mark(LineThread& thread, const Site& site, const ByteMask& mask) {
  const decode::MemoryOperand& operand = site.plan.operand;
  if (operand.kind != decode::AccessKind::write) thread.read |= mask;
  if (operand.kind != decode::AccessKind::read) thread.written |= mask;
  if (operand.swaps) thread.swaps = true;
}

}  // namespace

bool JudgedLine::competes(uint32_t use) const {
  return std::binary_search(competing.begin(), competing.end(), use);
}

uint64_t JudgedLine::samplesOfCompeting() const {
  uint64_t samples = 0;
  for (const SharingTable::CellView& view : cells)
    if (competes(view.cell->use)) samples += view.cell->count;
  return samples;
}

namespace {

/// The lines for which `wanted[line]`.
void judgeEach(const SharingTable& table, const Attribution& sites, const std::vector<bool>& wanted,
               JudgedTable& result) {
  const std::vector<LineEntry>& lines = table.lines();
  result.cells = table.cells(wanted);
  const std::vector<SharingTable::Reach> reaches = table.reaches();
  auto reach = reaches.begin();
  std::vector<uint32_t> uses;
  std::vector<LineThread> threads;
  for (size_t begin = 0, end = 0; begin < result.cells.size(); begin = end) {
    JudgedLine judged;
    judged.line = table.use(result.cells[begin].cell->use).line;
    while (end < result.cells.size() && table.use(result.cells[end].cell->use).line == judged.line) ++end;
    judged.cells = std::span(result.cells).subspan(begin, end - begin);

    uses.clear();
    for (uint32_t use = lines[judged.line].firstUse; use != kNone; use = table.use(use).next)
      uses.push_back(use);
    std::sort(uses.begin(), uses.end());
    threads.assign(uses.size(), {});
    for (size_t i = 0; i < uses.size(); ++i) threads[i].runs = table.use(uses[i]).runs.runs();
    const auto threadOf = [&](uint32_t use) -> LineThread& {
      return threads[static_cast<size_t>(std::lower_bound(uses.begin(), uses.end(), use) - uses.begin())];
    };
    for (const SharingTable::CellView& view : judged.cells) {
      const Site& site = sites[view.key->site];
      const uint32_t width = site.plan.operand.width;
      const uint64_t offset = view.key->offset % table.lineSize();
      mark(threadOf(view.cell->use), site, bytes(offset, width, table.lineSize()));
      if (offset + width > table.lineSize()) judged.straddling = true;
    }
    while (reach != reaches.end() && table.use(reach->use).line < judged.line) ++reach;
    for (; reach != reaches.end() && table.use(reach->use).line == judged.line; ++reach)
      mark(threadOf(reach->use), sites[reach->site], bytes(0, reach->bytes, table.lineSize()));

    const Judgement judgement = judge(threads);
    judged.verdict = judgement.verdict;
    judged.lock = judgement.lock;
    judged.mixedUse = judgement.mixedUse;
    for (size_t i = 0; i < uses.size(); ++i)
      if (judgement.competes[i]) judged.competing.push_back(uses[i]);
    result.lines.push_back(std::move(judged));
  }
}

// A goroutine that is seen so often at a line shows whether it takes turns with others.
constexpr uint32_t kSeenOften = 8;
// Each is compared with each: at one line, and at all of them.
constexpr uint32_t kMostGoroutines = 1024;
constexpr uint64_t kMostComparisons = 1 << 26;

bool sharesLess(Verdict one, Verdict other) {
  const auto rank = [](Verdict verdict) {
    return verdict == Verdict::falseSharing ? 0 : verdict == Verdict::mixed ? 1 : 2;
  };
  return rank(one) < rank(other);
}

/// The verdict of a line for which threads compete, by goroutines.
void take(const JudgedLine* byGoroutine, JudgedLine& judged) {
  const Verdict verdict = byGoroutine == nullptr ? Verdict::privateLine : byGoroutine->verdict;
  if (isContended(verdict) && !sharesLess(verdict, judged.verdict)) return;
  judged.verdict = verdict;
  judged.mixedUse = byGoroutine != nullptr && byGoroutine->mixedUse;
  if (isContended(verdict)) return;
  judged.lock = false;
  if (verdict == Verdict::privateLine) judged.competing.clear();
}

void judgeByGoroutines(const SharingTable& table, const SharingTable& goroutines, const Attribution& sites,
                       JudgedTable& result) {
  const std::vector<LineEntry>& lines = goroutines.lines();
  const auto lineOf = [&](const JudgedLine& judged) {
    const LineEntry& entry = table.lines()[judged.line];
    return goroutines.find({entry.space, entry.offset});
  };
  std::vector<bool> wanted(lines.size());
  uint64_t comparisons = kMostComparisons;
  for (JudgedLine& judged : result.lines) {
    const uint32_t line = lineOf(judged);
    if (line == kNone) continue;
    const LineEntry& entry = lines[line];
    for (uint32_t use = entry.firstUse; use != kNone; use = goroutines.use(use).next)
      judged.goroutines += Goroutines::isGoroutine(goroutines.use(use));
    // Programs of other languages may use shared memory, too.
    if (!isContended(judged.verdict) || judged.goroutines == 0 ||
        entry.records != table.lines()[judged.line].records)
      continue;
    if (entry.uses == 1) take(nullptr, judged);
    const uint64_t pairs = uint64_t{entry.uses} * (entry.uses - 1) / 2;
    wanted[line] = entry.uses <= kMostGoroutines && pairs <= comparisons && pairs > 0 &&
                   entry.records / entry.uses >= kSeenOften;
    if (wanted[line]) comparisons -= pairs;
  }
  JudgedTable byGoroutine;
  judgeEach(goroutines, sites, wanted, byGoroutine);
  HashMap<uint32_t, const JudgedLine*> verdicts;
  for (const JudgedLine& judged : byGoroutine.lines) verdicts[judged.line] = &judged;
  for (JudgedLine& judged : result.lines)
    if (const auto found = verdicts.find(lineOf(judged)); found != verdicts.end())
      take(found->second, judged);
}

void countContended(const SharingTable& table, std::vector<JudgedLine>& lines) {
  std::vector<bool> contended(table.lines().size());
  for (JudgedLine& judged : lines) {
    if (!isContended(judged.verdict)) continue;
    contended[judged.line] = true;
    judged.contended = judged.samplesOfCompeting();
  }
  for (JudgedLine& judged : lines) {
    if (!contended[judged.line]) continue;
    const LineEntry& entry = table.lines()[judged.line];
    const uint32_t neighbour = table.find({entry.space, entry.offset ^ table.lineSize()});
    judged.adjacent = neighbour != kNone && contended[neighbour];
  }
}

}  // namespace

JudgedTable judgeLines(const SharingTable& table, const SharingTable& goroutines, const Attribution& sites,
                       bool all, std::span<const uint32_t> also) {
  JudgedTable result;
  const std::vector<LineEntry>& lines = table.lines();
  std::vector<bool> wanted(lines.size());
  for (const uint32_t line : also) wanted[line] = lines[line].records > 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    wanted[i] = wanted[i] || (lines[i].records > 0 && (all || lines[i].uses > 1));
    if (lines[i].records > 0 && !wanted[i]) ++result.singleThreaded;
  }
  judgeEach(table, sites, wanted, result);
  if (!goroutines.lines().empty()) judgeByGoroutines(table, goroutines, sites, result);
  countContended(table, result.lines);
  for (const uint32_t line : also)
    if (lines[line].records == 0) result.lines.emplace_back().line = line;
  return result;
}

}  // namespace cacheline::analysis
