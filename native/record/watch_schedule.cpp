// Rotation over words, and the arithmetic of the budget and of looks.
#include "record/watch_schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace cacheline::record {
namespace {

using namespace std::chrono_literals;

constexpr WatchBudget::Duration kShortest = 5ms, kLongest = 100ms;
// What the hits of one window may cost: short enough that no request of the program waits long.
constexpr WatchBudget::Duration kHitsOfWindow = 2500us;
constexpr uint64_t kFewestHits = 32, kMostHits = 512;
constexpr double kLeastBudget = 0.001;
constexpr LookSchedule::Clock::duration kFirstLook = 200ms, kLongestRest = 30s;
constexpr int kRest = 20;       // times the CPU time of the look before
constexpr uint64_t kLine = 64;  // only to keep neighbours together: 128-byte lines lose nothing

auto identity(const WatchWord& word) {
  return std::tie(word.pid, word.address, word.length);
}

bool same(const std::vector<WatchWord>& a, const std::vector<WatchWord>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const WatchWord& x, const WatchWord& y) { return identity(x) == identity(y); });
}

/// Cuts one process's words into windows.
std::vector<std::vector<WatchWord>> windowsOf(const std::vector<WatchWord>& words, size_t slots) {
  std::vector<std::vector<WatchWord>> windows;
  for (size_t begin = 0, end = 0; begin < words.size(); begin = end) {
    while (end < words.size() && words[end].address / kLine == words[begin].address / kLine) ++end;
    if (windows.empty() || windows.back().size() + (end - begin) > slots) windows.emplace_back();
    for (size_t i = begin; i < end; ++i) {
      if (windows.back().size() == slots) windows.emplace_back();
      windows.back().push_back(words[i]);
    }
  }
  return windows;
}

}  // namespace

bool WatchRotation::set(std::vector<WatchWord> words) {
  std::set<std::tuple<pid_t, uint64_t, uint32_t>> seen;
  std::erase_if(words, [&](const WatchWord& word) { return !seen.emplace(identity(word)).second; });
  if (same(words, words_)) return false;
  turn_ = 0;
  words_ = std::move(words);
  return true;
}

std::vector<WatchWord> WatchRotation::next(size_t slots) {
  std::map<pid_t, std::vector<WatchWord>> byProcess;
  for (const WatchWord& word : words_) byProcess[word.pid].push_back(word);
  std::vector<WatchWord> chosen;
  if (slots == 0) return chosen;
  for (const auto& [pid, words] : byProcess) {
    const auto windows = windowsOf(words, slots);
    const std::vector<WatchWord>& window = windows[turn_ % windows.size()];
    chosen.insert(chosen.end(), window.begin(), window.end());
  }
  ++turn_;
  return chosen;
}

WatchBudget::WatchBudget(double budget, Duration hitCost)
    : budget_(std::max(budget, kLeastBudget)), hitCost_(std::max(hitCost, Duration(1))), length_(kShortest) {}

uint64_t WatchBudget::mostHits() const {
  return std::clamp<uint64_t>(static_cast<uint64_t>(kHitsOfWindow / hitCost_), kFewestHits, kMostHits);
}

WatchBudget::Duration WatchBudget::interval(Duration length, uint64_t hits, Duration overhead, bool cut) {
  length_ = cut ? kShortest : std::min(length_ * 2, kLongest);
  if (unlimited()) return length;
  const double hitsCost = static_cast<double>(hits) * static_cast<double>(hitCost_.count());
  const double cost =
      std::min(hitsCost, static_cast<double>(length.count())) + static_cast<double>(overhead.count());
  const auto wanted = Duration(static_cast<int64_t>(cost * (1 + caution_ / budget_)));
  return std::max(length, wanted);
}

LookSchedule::LookSchedule(Clock::time_point begun)
    : begun_(begun), asked_(begun), next_(begun + kFirstLook) {}

void LookSchedule::begin(Clock::time_point now) {
  asked_ = now;
  looking_ = true;
}

void LookSchedule::end(Clock::time_point now, Clock::duration used, uint64_t opened) {
  looking_ = false;
  next_ = asked_ + std::min(asked_ - begun_, kLongestRest);
  if (opened == 0) next_ = std::max(next_, now + kRest * used);
}

}  // namespace cacheline::record
