// Pairs of functions and of source lines.
#include "tables/pairs.h"

#include <algorithm>

#include "tables/key_texts.h"

namespace cacheline::tables {

FunctionPairs::FunctionPairs(const analysis::Report& report) {
  for (const analysis::Line& line : report.lines) {
    for (const analysis::AccessCause& pair : line.pairs) {
      if (!pair.access || !pair.cause) continue;
      const analysis::Access &waits = line.accesses[*pair.access], &causes = line.accesses[*pair.cause];
      const double waiting = static_cast<double>(waits.contended) * pair.share;
      if (waiting <= 0) continue;
      Sum& sum = pairs_[functionText(*waits.code)][functionText(*causes.code)];
      sum.waiting += waiting;
      sum.falsely += waiting * pair.falsely;
      sum.lines[{sourceText(*waits.code), sourceText(*causes.code)}] += waiting;
    }
  }
}

std::vector<WaitsFor> FunctionPairs::of(const std::string& function, uint64_t contended) const {
  std::vector<WaitsFor> list;
  const auto found = pairs_.find(function);
  if (found == pairs_.end() || contended == 0) return list;
  const auto whole = static_cast<double>(contended);
  const auto bySharesDown = [](const auto& a, const auto& b) { return a.share > b.share; };
  for (const auto& [cause, sum] : found->second) {
    WaitsFor& pair = list.emplace_back();
    pair.function = cause;
    // Sums of parts of 1 may be a little more.
    const auto shareOf = [](double part, double all) { return std::min(part / all, 1.0); };
    pair.share = shareOf(sum.waiting, whole);
    pair.falseShare = shareOf(sum.falsely, sum.waiting);
    for (const auto& [lines, waiting] : sum.lines)
      pair.lines.push_back({lines.first, lines.second, shareOf(waiting, whole)});
    std::stable_sort(pair.lines.begin(), pair.lines.end(), bySharesDown);
  }
  std::stable_sort(list.begin(), list.end(), bySharesDown);
  return list;
}

}  // namespace cacheline::tables
