// Hot lines by set.
#include "workset/cache_sets.h"

#include <algorithm>

namespace cacheline::workset {
namespace {

constexpr double kLeastShare = 0.1;  // of the samples
/// Of the ways: sets that are fuller leave no room, and lines in others do not help.
constexpr double kRoom = 0.5;

}  // namespace

SetUse setUseOf(const std::vector<UsedLine>& lines, uint64_t sets, uint64_t ways, uint64_t lineBytes) {
  struct Set {
    uint64_t lines = 0, samples = 0, misses = 0;
  };
  SetUse use;
  use.sets = sets;
  use.ways = ways;
  std::vector<Set> all(sets);
  for (const UsedLine& line : lines) {
    use.allSamples += line.samples;
    if (line.samples < kHotSamples) continue;
    Set& set = all[line.address / lineBytes % sets];
    ++use.hotLines;
    ++set.lines;
    set.samples += line.samples;
    set.misses += line.misses;
  }
  uint64_t linesThere = 0;
  for (const Set& set : all) {
    use.mostLines = std::max(use.mostLines, set.lines);
    if (set.lines <= ways) continue;
    ++use.oversubscribed;
    linesThere += set.lines;
    use.samples += set.samples;
    use.misses += set.misses;
  }
  if (use.oversubscribed < sets)
    use.elsewhere =
        static_cast<double>(use.hotLines - linesThere) / static_cast<double>(sets - use.oversubscribed);
  return use;
}

bool isConflict(const SetUse& use) {
  return use.oversubscribed > 0 && use.oversubscribed < use.sets && use.share() >= kLeastShare &&
         use.elsewhere <= kRoom * static_cast<double>(use.ways);
}

}  // namespace cacheline::workset
