// Words that are taken and given back, by what instructions do to them.
#include "analysis/lock_uses.h"

#include <algorithm>
#include <map>

#include "decode/lock_step.h"

namespace cacheline::analysis {

namespace {

constexpr double kNearlyAll = 0.9;

bool overlap(const WordStatistics& a, const WordStatistics& b, int64_t by = 0) {
  const int64_t from = int64_t{a.offset} + by;
  return from < int64_t{b.offset} + b.width && int64_t{b.offset} < from + a.width;
}

/// What takes a word, with all that gives it back in other functions.
struct Taken {
  std::vector<size_t> takes, backs;  ///< uses
};

}  // namespace

std::vector<bool> lockUses(const LineAccesses& line) {
  const std::vector<WordStatistics>& uses = line.uses;
  std::vector<bool> result(uses.size());
  std::map<uint32_t, Taken> taken;  // by offset
  for (size_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].lock || !uses[i].lock->takes) continue;
    const decode::LockStep& take = *uses[i].lock;
    if (take.isLock()) {
      result[i] = true;
      for (size_t j = 0; take.turn != 0 && j < uses.size(); ++j)
        if (overlap(uses[i], uses[j], take.turn)) result[j] = true;
      continue;
    }
    bool isGivenBack = false;
    for (size_t j = 0; j < uses.size(); ++j) {
      if (!uses[j].lock || uses[j].function == uses[i].function || !overlap(uses[i], uses[j]) ||
          !decode::undoes(uses[j].lock->change, take.change))
        continue;
      isGivenBack = true;
      taken[uses[i].offset].backs.push_back(j);
    }
    if (isGivenBack) taken[uses[i].offset].takes.push_back(i);
  }
  for (const auto& [offset, word] : taken) {
    struct Samples {
      double takes = 0, backs = 0;
    };
    std::map<uint32_t, Samples> actors;
    for (const PlaceSample& sample : line.samples) {
      const uint32_t actor = line.visitors[sample.visitor].actor;
      if (std::ranges::find(word.takes, sample.use) != word.takes.end())
        actors[actor].takes += sample.weight;
      else if (std::ranges::find(word.backs, sample.use) != word.backs.end())
        actors[actor].backs += sample.weight;
    }
    double all = 0, ofBoth = 0;
    for (const auto& [actor, samples] : actors) {
      all += samples.takes + samples.backs;
      if (samples.takes > 0 && samples.backs > 0) ofBoth += samples.takes + samples.backs;
    }
    if (all > 0 && ofBoth >= kNearlyAll * all)
      for (const size_t take : word.takes) result[take] = true;
  }
  return result;
}

}  // namespace cacheline::analysis
