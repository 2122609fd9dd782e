// What is not known sorts as the least.
#include "profile/line_order.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "profile/line_summary.h"
#include "profile/measure.h"

namespace cacheline::profile {

namespace {

using analysis::Line;
using analysis::MemoryCounts;

constexpr double kUnknown = -1;

double counted(const Line& line, uint64_t MemoryCounts::*of) {
  return line.memory ? static_cast<double>((*line.memory).*of) : kUnknown;
}

double pairOf(const Line& line, uint64_t MemoryCounts::*local, uint64_t MemoryCounts::*remote) {
  return line.memory ? static_cast<double>((*line.memory).*local + (*line.memory).*remote) : kUnknown;
}

/// Worst last.
double rankOf(analysis::Verdict verdict) {
  using analysis::Verdict;
  switch (verdict) {
    case Verdict::falseSharing:
      return 4;
    case Verdict::mixed:
      return 3;
    case Verdict::trueSharing:
      return 2;
    case Verdict::readShared:
      return 1;
    case Verdict::privateLine:
      return 0;
  }
  return kUnknown;
}

/// Writers, then readers.
double writersOf(const Line& line) {
  const auto [writers, readers] = userCounts(line);
  return writers * 1e6 + readers;
}

/// Of its loads: core cycles until their data was there.
double cyclesOf(const Line& line) {
  const bool known = std::ranges::any_of(
      line.accesses, [](const analysis::Access& access) { return access.memory && access.memory->cycles; });
  return known ? amountOf(line, Measure::latency) : kUnknown;
}

double meanCyclesOf(const Line& line) {
  bool known = false;
  uint64_t sum = 0, loads = 0;
  for (const analysis::Access& access : line.accesses) {
    if (!access.memory || !access.memory->cycles) continue;
    known = true;
    sum += access.memory->cycles->sum;
    loads += access.loads;
  }
  return known && loads > 0 ? static_cast<double>(sum) / static_cast<double>(loads) : kUnknown;
}

/// By the lowest node, then the next.
template <typename Nodes>
double nodesOf(const Nodes& nodes) {
  double key = kUnknown;
  double scale = 1e6;
  for (const uint32_t node : nodes) {
    key = std::max(key, 0.0) + scale * (node + 1);
    if ((scale /= 1e6) < 1e-6) break;
  }
  return key;
}

double userNodesOf(const Line& line) {
  std::set<uint32_t> nodes;
  for (const analysis::Access& access : line.accesses) nodes.insert(access.nodes.begin(), access.nodes.end());
  return nodesOf(nodes);
}

constexpr std::pair<std::string_view, NumberOf> kNumbers[] = {
    {"contended", [](const Line& line) { return static_cast<double>(line.contended); }},
    {"verdict", [](const Line& line) { return rankOf(line.verdict); }},
    {"threads", [](const Line& line) { return static_cast<double>(line.threads.size()); }},
    {"writers", writersOf},
    {"records", [](const Line& line) { return static_cast<double>(line.records); }},
    {"loads", [](const Line& line) { return static_cast<double>(line.loads); }},
    {"hitm.total",
     [](const Line& line) { return pairOf(line, &MemoryCounts::localHitm, &MemoryCounts::remoteHitm); }},
    {"hitm.local", [](const Line& line) { return counted(line, &MemoryCounts::localHitm); }},
    {"hitm.remote", [](const Line& line) { return counted(line, &MemoryCounts::remoteHitm); }},
    {"peer.total",
     [](const Line& line) { return pairOf(line, &MemoryCounts::localPeer, &MemoryCounts::remotePeer); }},
    {"peer.local", [](const Line& line) { return counted(line, &MemoryCounts::localPeer); }},
    {"peer.remote", [](const Line& line) { return counted(line, &MemoryCounts::remotePeer); }},
    {"stores.total", [](const Line& line) { return static_cast<double>(line.stores); }},
    {"stores.l1Hit", [](const Line& line) { return counted(line, &MemoryCounts::storeL1Hit); }},
    {"stores.l1Miss", [](const Line& line) { return counted(line, &MemoryCounts::storeL1Miss); }},
    {"stores.na", [](const Line& line) { return counted(line, &MemoryCounts::storeNa); }},
    {"ld.l1", [](const Line& line) { return counted(line, &MemoryCounts::l1); }},
    {"ld.fillBuffer", [](const Line& line) { return counted(line, &MemoryCounts::fillBuffer); }},
    {"ld.l2", [](const Line& line) { return counted(line, &MemoryCounts::l2); }},
    {"ld.llc", [](const Line& line) { return counted(line, &MemoryCounts::llc); }},
    {"ld.remoteHit", [](const Line& line) { return counted(line, &MemoryCounts::remoteHit); }},
    {"ld.localDram", [](const Line& line) { return counted(line, &MemoryCounts::localDram); }},
    {"ld.remoteDram", [](const Line& line) { return counted(line, &MemoryCounts::remoteDram); }},
    {"cycles.mean", meanCyclesOf},
    {"cycles.sum", cyclesOf},
    {"memory.node", [](const Line& line) { return line.nodes ? nodesOf(*line.nodes) : kUnknown; }},
    {"memory.pa",
     [](const Line& line) {
       return line.physicalChanges ? static_cast<double>(*line.physicalChanges) : kUnknown;
     }},
    {"who.nodes", userNodesOf},
};

/// Its data, the costliest first.
std::string objectsOf(const Line& line) {
  if (line.accesses.empty()) return {};
  std::string text;
  std::set<std::string> seen;
  for (const analysis::Access* row : costliestFirst(line))
    if (const auto [name, isNew] = seen.insert(analysis::objectName(row->data)); isNew)
      text += (text.empty() ? "" : ", ") + *name;
  return text;
}

/// Many lines have the same text.
std::vector<double> ranksOf(const std::vector<Line>& lines) {
  HashMap<std::string, uint32_t> numbers;
  std::vector<uint32_t> ofLines;
  ofLines.reserve(lines.size());
  for (const Line& line : lines)
    ofLines.push_back(
        numbers.try_emplace(objectsOf(line), static_cast<uint32_t>(numbers.size())).first->second);
  std::vector<std::pair<std::string, uint32_t>> texts(numbers.begin(), numbers.end());
  std::sort(texts.begin(), texts.end());
  std::vector<double> rankOfText(texts.size());
  for (size_t rank = 0; rank < texts.size(); ++rank)
    rankOfText[texts[rank].second] = static_cast<double>(rank);
  std::vector<double> ranks;
  ranks.reserve(lines.size());
  for (const uint32_t number : ofLines) ranks.push_back(rankOfText[number]);
  return ranks;
}

}  // namespace

NumberOf numberOf(std::string_view key) {
  const auto* const found =
      std::ranges::find_if(kNumbers, [&](const auto& entry) { return entry.first == key; });
  return found == std::end(kNumbers) ? nullptr : found->second;
}

const std::vector<double>& LineKeys::numbers(const std::string& key) {
  const NumberOf number = numberOf(key);
  if (number == nullptr && key != "object")
    throw Error(ErrorKind::usage, "lines cannot be sorted by '" + key + "'",
                "Sort by a column of the table.");
  const std::lock_guard lock(mutex_);
  if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
  std::vector<double> numbers;
  if (number == nullptr) {
    numbers = ranksOf(report_.lines);
  } else {
    numbers.reserve(report_.lines.size());
    for (const Line& line : report_.lines) numbers.push_back(number(line));
  }
  return numbers_.emplace(key, std::move(numbers)).first->second;
}

const std::vector<uint64_t>& LineKeys::addresses() {
  const std::lock_guard lock(mutex_);
  if (addresses_.empty())
    for (const Line& line : report_.lines) addresses_.push_back(line.address);
  return addresses_;
}

std::vector<uint32_t> LineKeys::page(std::vector<uint32_t> lines, const std::string& key, bool descending,
                                     size_t offset, size_t count) {
  const bool byAddress = key == "address";
  const std::vector<uint64_t>& addresses = this->addresses();
  const std::vector<double>* const numbers = byAddress ? nullptr : &this->numbers(key);
  const auto before = [&](uint32_t a, uint32_t b) {
    if (!byAddress && (*numbers)[a] != (*numbers)[b]) return ((*numbers)[a] < (*numbers)[b]) != descending;
    if (addresses[a] != addresses[b]) return (addresses[a] < addresses[b]) != (byAddress && descending);
    return a < b;
  };
  offset = std::min(offset, lines.size());
  count = std::min(count, lines.size() - offset);
  const auto begin = lines.begin() + static_cast<ptrdiff_t>(offset),
             end = begin + static_cast<ptrdiff_t>(count);
  if (count == 0) return {};
  std::nth_element(lines.begin(), begin, lines.end(), before);
  std::partial_sort(begin, end, lines.end(), before);
  return {begin, end};
}

}  // namespace cacheline::profile
