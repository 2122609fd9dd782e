// Pairs of functions and of source lines.
#include "tables/pairs.h"

#include <algorithm>

#include "analysis/use_pairs.h"
#include "tables/key_texts.h"

namespace cacheline::tables {

FunctionPairs::FunctionPairs(const analysis::Report& report) {
  for (const analysis::Line& line : report.lines)
    if (line.pairs) add(line);
}

void FunctionPairs::add(const analysis::Line& line) {
  const std::vector<analysis::UsePairs::Use>& uses = line.pairs->uses;
  const auto kept = [this](std::string text) -> std::string_view {
    return *texts_.insert(std::move(text)).first;
  };
  std::vector<std::pair<std::string_view, std::string_view>> codes;  // by access: function and source line
  for (const analysis::Access& access : line.accesses)
    codes.emplace_back(kept(functionText(*access.code)), kept(sourceText(*access.code)));
  for (uint32_t use = 0; use < uses.size(); ++use) {
    const std::optional<uint32_t> access = uses[use].access;
    if (!access || line.accesses[*access].contended == 0) continue;
    const auto contended = static_cast<double>(line.accesses[*access].contended);
    const auto& [function, source] = codes[*access];
    for (const analysis::UseCause& pair : line.pairs->of(use)) {
      const std::optional<uint32_t> cause = uses[pair.cause].access;
      if (!cause) continue;
      const double waiting = contended * pair.share;
      const auto& [causing, causingSource] = codes[*cause];
      Sum& sum = pairs_[function][causing];
      sum.waiting += waiting;
      sum.falsely += waiting * pair.falsely;
      sum.lines[{source, causingSource}] += waiting;
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
      pair.lines.push_back({std::string(lines.first), std::string(lines.second), shareOf(waiting, whole)});
    std::stable_sort(pair.lines.begin(), pair.lines.end(), bySharesDown);
  }
  std::stable_sort(list.begin(), list.end(), bySharesDown);
  return list;
}

}  // namespace cacheline::tables
