// Objects with equal paths are added up, those of other words joined.
#include "traces/paths.h"

#include <algorithm>
#include <map>
#include <utility>

#include "traces/shared_life.h"

namespace cacheline::traces {

const char* stepKindName(StepKind kind) {
  switch (kind) {
    case StepKind::read:
      return "read";
    case StepKind::write:
      return "write";
    case StepKind::readWrite:
      return "read-write";
    case StepKind::unknown:
      break;
  }
  return "unknown";
}

std::vector<Path> pathsOf(const std::vector<TracedLife>& lives) {
  std::map<SharedLife::Key, SharedLife> equal;
  for (const TracedLife& life : lives) {
    const SharedLife one(life);
    const auto [it, isNew] = equal.try_emplace(one.key(), one);
    if (!isNew) it->second.add(one);
  }
  std::vector<std::pair<const SharedLife::Key*, const SharedLife*>> order;
  for (const auto& [key, shared] : equal) order.emplace_back(&key, &shared);
  std::ranges::stable_sort(
      order, [](const auto& a, const auto& b) { return a.second->count() > b.second->count(); });

  struct Joined {
    SharedLife shared;
    std::set<std::vector<uint32_t>> groups;  ///< of words, whose objects are in it
  };
  std::vector<Joined> joined;
  for (const auto& [key, shared] : order) {
    const std::vector<uint32_t>& group = std::get<0>(*key);
    // Two paths of the same words are two paths.
    const bool found = std::ranges::any_of(joined, [&, part = shared](Joined& other) {
      return !other.groups.contains(group) && other.shared.join(*part) && other.groups.insert(group).second;
    });
    if (!found) joined.push_back({*shared, {group}});
  }
  std::vector<Path> paths;
  for (const Joined& one : joined) paths.push_back(one.shared.path());
  std::ranges::stable_sort(paths, [](const Path& a, const Path& b) { return a.count > b.count; });
  return paths;
}

}  // namespace cacheline::traces
