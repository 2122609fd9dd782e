// One object's accesses by word, equal ones added up, others joined, and all put in order.
#include "traces/shared_life.h"

#include <algorithm>
#include <iterator>

namespace cacheline::traces {
namespace {

constexpr size_t kLongestCycle = 4;   // accesses at one word that come again and again
constexpr size_t kMostAccesses = 64;  // at one word, that are told apart

/// One object's accesses at one word.
struct WordHistory {
  struct Entry {
    WordAccess access;
    size_t order = 0;  ///< when it came
  };
  std::vector<Entry> list;

  void absorb(Entry& entry, const WordAccess& again) {
    entry.access.repeated = true;
    entry.access.members.insert(again.members.begin(), again.members.end());
  }
  /// `x y x y` becomes `x y`, repeated.
  void foldCycle() {
    for (size_t length = 2; length <= kLongestCycle && 2 * length <= list.size(); ++length) {
      const size_t second = list.size() - length, first = second - length;
      bool same = true;
      for (size_t i = 0; i < length; ++i) same &= list[first + i].access.isStepOf(list[second + i].access);
      if (!same) continue;
      for (size_t i = 0; i < length; ++i) absorb(list[first + i], list[second + i].access);
      list.resize(second);
      return;
    }
  }
  void add(WordAccess access, size_t order) {
    if (!list.empty() && access.isStepOf(list.back().access)) {
      list.back().access.members.merge(access.members);
    } else {
      list.push_back({std::move(access), order});
      foldCycle();
    }
  }
  /// Each kind of access once, by function and kind.
  void addSteady(WordAccess access, size_t order) {
    const auto at = std::ranges::lower_bound(list, access.what(), {},
                                             [](const Entry& entry) { return entry.access.what(); });
    if (at != list.end() && at->access.what() == access.what())
      absorb(*at, access);
    else
      list.insert(at, {std::move(access), order});
  }
};

}  // namespace

SharedLife::SharedLife(const TracedLife& life)
    : variable_(life.variable),
      truncated_(life.truncated),
      allocatedIn_(life.allocatedIn),
      freed_(life.freed),
      words_(life.words) {
  Places places;
  const auto placeOf = [&](uint32_t cpu) {
    return places.try_emplace(cpu, static_cast<uint32_t>(places.size())).first->second;
  };
  if (!variable_) placeOf(life.cpu);
  std::map<uint32_t, WordHistory> histories;
  for (size_t i = 0; i < life.accesses.size(); ++i) {
    const ObjectAccess& access = life.accesses[i];
    WordAccess fresh{access.function,
                     access.kind,
                     placeOf(access.cpu),
                     false,
                     {access.members.begin(), access.members.end()},
                     1,
                     access.ns,
                     0};
    if (freed_) fresh.sumToFree = static_cast<int64_t>(freed_->ns) - static_cast<int64_t>(access.ns);
    WordHistory& history = histories[access.word];
    if (isSteady())
      history.addSteady(std::move(fresh), i);
    else if (history.list.size() < kMostAccesses)
      history.add(std::move(fresh), i);
    else
      ++moreSteps_;
  }
  if (freed_) freed_->cpu = placeOf(freed_->cpu);

  std::vector<std::pair<size_t, WordAccessId>> order;
  for (auto& [word, history] : histories)
    for (uint32_t n = 0; n < history.list.size(); ++n) {
      order.emplace_back(history.list[n].order, WordAccessId{word, n});
      accesses_.emplace(WordAccessId{word, n}, std::move(history.list[n].access));
    }
  std::ranges::sort(order);
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t j = i + 1; j < order.size(); ++j) {
      const std::pair<WordAccessId, WordAccessId> ids = std::minmax(order[i].second, order[j].second);
      const auto& [first, second] = ids;
      const int64_t gap =
          static_cast<int64_t>(accesses_[second].sumNs) - static_cast<int64_t>(accesses_[first].sumNs);
      orders_[ids] = {1, first == order[i].second ? 1u : 0u, gap};
    }
}

SharedLife::Key SharedLife::key() const {
  Key key{words_,
          variable_,
          truncated_,
          allocatedIn_,
          freed_ ? freed_->function : std::string(),
          freed_ ? freed_->cpu + 1 : 0,
          {}};
  for (const auto& [id, access] : accesses_)
    std::get<6>(key).emplace_back(id, access.function, access.kind, isSteady() ? 0 : access.place);
  return key;
}

void SharedLife::add(const SharedLife& other) {
  count_ += other.count_;
  moreSteps_ = std::max(moreSteps_, other.moreSteps_);
  if (freed_) freed_->ns += other.freed_->ns;
  for (const auto& [id, access] : other.accesses_) {
    WordAccess& own = accesses_.try_emplace(id, access).first->second;
    own.members.insert(access.members.begin(), access.members.end());
    own.repeated |= access.repeated;
    own.count += access.count;
    own.sumNs += access.sumNs;
    own.sumToFree += access.sumToFree;
  }
  for (const auto& [ids, order] : other.orders_) {
    AccessOrder& own = orders_[ids];
    own.together += order.together;
    own.before += order.before;
    own.sumGap += order.sumGap;
  }
}

/// From the places of `other` to ours; nullopt: they contradict.
std::optional<SharedLife::Places> SharedLife::placesOf(const SharedLife& other) const {
  Places places;
  const auto agree = [&](uint32_t theirs, uint32_t ours) {
    return places.try_emplace(theirs, ours).first->second == ours;
  };
  if (!variable_) agree(0, 0);
  if (freed_ && !agree(other.freed_->cpu, freed_->cpu)) return std::nullopt;
  uint32_t next = freed_ ? freed_->cpu + 1 : 1;
  for (const auto& [id, access] : accesses_) {
    next = std::max(next, access.place + 1);
    const auto same = other.accesses_.find(id);
    if (same != other.accesses_.end() && !agree(same->second.place, access.place)) return std::nullopt;
  }
  // What was seen at other words alone: where the same function runs.
  for (const auto& [id, access] : other.accesses_) {
    if (places.contains(access.place)) continue;
    const std::string& function = access.function;
    const auto known =
        std::ranges::find_if(accesses_, [&](const auto& own) { return own.second.function == function; });
    places.emplace(access.place, known != accesses_.end() ? known->second.place : next++);
  }
  return places;
}

bool SharedLife::join(const SharedLife& other) {
  if (variable_ != other.variable_ || truncated_ != other.truncated_ || allocatedIn_ != other.allocatedIn_ ||
      freed_.has_value() != other.freed_.has_value() ||
      (freed_ && freed_->function != other.freed_->function))
    return false;
  std::vector<uint32_t> both;
  std::ranges::set_intersection(words_, other.words_, std::back_inserter(both));
  const auto differs = [&](const SharedLife& a, const SharedLife& b) {
    return std::ranges::any_of(a.accesses_, [&](const auto& entry) {
      if (!std::ranges::binary_search(both, entry.first.first)) return false;
      const auto same = b.accesses_.find(entry.first);
      return same == b.accesses_.end() || same->second.what() != entry.second.what();
    });
  };
  if (differs(*this, other) || differs(other, *this)) return false;
  const auto places = placesOf(other);
  if (!places) return false;
  SharedLife moved = other;
  for (auto& [id, access] : moved.accesses_) access.place = places->at(access.place);
  std::vector<uint32_t> all;
  std::ranges::set_union(words_, other.words_, std::back_inserter(all));
  words_ = std::move(all);
  // Those that are new here are put in as they are, the others are added up.
  for (const auto& [id, access] : moved.accesses_)
    if (!accesses_.contains(id))
      accesses_.emplace(id, WordAccess{access.function, access.kind, access.place, false, {}, 0, 0, 0});
  add(moved);
  return true;
}

int64_t SharedLife::lead(WordAccessId a, WordAccessId b) const {
  const auto found = orders_.find(std::minmax(a, b));
  if (found == orders_.end()) return 0;
  const auto& [together, before, gap] = found->second;
  const int64_t first = 2 * static_cast<int64_t>(before) - static_cast<int64_t>(together);
  return a < b ? first : -first;
}

std::optional<int64_t> SharedLife::meanGap(WordAccessId a, WordAccessId b) const {
  const auto found = orders_.find(std::minmax(a, b));
  if (found == orders_.end()) return std::nullopt;
  const int64_t gap = found->second.sumGap / static_cast<int64_t>(found->second.together);
  return a < b ? gap : -gap;
}

/// One after the other, each time an access that no other one has to come before: of several one that goes on
/// with the step, else the earliest. Where orders contradict, the earliest of all.
std::vector<WordAccessId> SharedLife::inOrder() const {
  std::vector<WordAccessId> left;
  for (const auto& [id, access] : accesses_) left.push_back(id);
  std::ranges::stable_sort(left, {}, [this](WordAccessId id) { return accesses_.at(id).meanNs(); });
  const auto hasToComeBefore = [this](WordAccessId a, WordAccessId b) {
    return lead(a, b) > 0 || (!isSteady() && a.first == b.first && a.second < b.second);
  };
  std::map<WordAccessId, size_t> waitsFor;  // how many that are left
  for (const WordAccessId& id : left)
    waitsFor[id] = static_cast<size_t>(
        std::ranges::count_if(left, [&](WordAccessId other) { return hasToComeBefore(other, id); }));
  std::vector<WordAccessId> order;
  while (!left.empty()) {
    const auto mayCome = [&](WordAccessId id) { return waitsFor[id] == 0; };
    const auto goesOn = [&](WordAccessId id) {
      return mayCome(id) && !order.empty() && accesses_.at(id).isStepOf(accesses_.at(order.back()));
    };
    auto next = std::ranges::find_if(left, goesOn);
    if (next == left.end()) next = std::ranges::find_if(left, mayCome);
    if (next == left.end()) next = left.begin();
    order.push_back(*next);
    left.erase(next);
    for (const WordAccessId& id : left)
      if (hasToComeBefore(order.back(), id)) --waitsFor[id];
  }
  return order;
}

Path SharedLife::path() const {
  Path path;
  path.count = count_;
  path.truncated = truncated_;
  path.moreSteps = moreSteps_;
  if (!variable_) path.allocatedIn = allocatedIn_;
  std::optional<uint32_t> place;
  if (!variable_) place = 0;
  std::optional<WordAccessId> before;  // the first of the step before
  for (const WordAccessId& id : inOrder()) {
    const WordAccess& access = accesses_.at(id);
    if (before && access.isStepOf(accesses_.at(*before))) {
      path.steps.back().members.insert(access.members.begin(), access.members.end());
      path.steps.back().repeated |= access.repeated;
      continue;
    }
    const uint64_t last = before ? path.steps.back().sinceAllocNs : 0;
    const std::optional<int64_t> gap = before ? meanGap(*before, id) : std::nullopt;
    const uint64_t ns =
        gap ? last + static_cast<uint64_t>(std::max<int64_t>(*gap, 0)) : std::max(last, access.meanNs());
    path.steps.push_back({access.function, access.kind, access.members, access.place,
                          place && *place != access.place, access.repeated, ns});
    place = access.place;
    before = id;
  }
  if (freed_) {
    uint64_t ns = freed_->ns / count_;
    if (before) {
      const WordAccess& access = accesses_.at(*before);
      ns = path.steps.back().sinceAllocNs +
           static_cast<uint64_t>(std::max<int64_t>(access.sumToFree / static_cast<int64_t>(access.count), 0));
    }
    path.freed = {freed_->function, {}, {}, freed_->cpu, place && *place != freed_->cpu, false, ns};
  }
  if (path.steps.size() > kMostSteps) {
    path.moreSteps += path.steps.size() - kMostSteps;
    path.steps.resize(kMostSteps);
  }
  return path;
}

}  // namespace cacheline::traces
