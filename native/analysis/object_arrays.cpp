// Objects that are elements of one array: as they lie end to end, or by the pointer with static storage that
// leads to them.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "analysis/object_evidence.h"
#include "inference/naming_rules.h"
#include "types/field_path.h"

namespace cacheline::analysis {

namespace {
constexpr int kArraySearch = 16;  // arrays looked at that begin below a place
}  // namespace

/// Objects of one type that lie end to end are elements of one array or pool.
void ObjectEvidence::joinArrays() {
  HashMap<uint64_t, size_t> previous;  // by space and type name
  for (size_t i = 0; i < objects_.size(); ++i) {
    Object& object = objects_[i];
    const auto [it, first] =
        previous.try_emplace((uint64_t{object.space} << 32) | sorts_[object.sort].name, i);
    if (!first) {
      const Object& before = objects_[it->second];
      if (before.end == object.base && !inference::isOff(inference::NamingRule::joinedArrays) &&
          sorts_[object.sort].size != 0)
        object.arrayBase = before.arrayBase;
      it.value() = i;
    }
  }
}

bool ObjectEvidence::areElements(const AgreedObject& of, Position begin, uint64_t bytes,
                                 uint64_t size) const {
  auto it = std::lower_bound(
      objects_.begin(), objects_.end(), std::pair(begin.space, begin.offset),
      [](const Object& object, const auto& place) { return std::pair(object.space, object.base) < place; });
  std::optional<uint64_t> first;
  uint64_t step = 0;
  bool counted = false;
  for (; it != objects_.end() && it->space == begin.space && it->base - begin.offset < bytes; ++it) {
    if (sorts_[it->sort].name != of.name) continue;
    if ((it->base - begin.offset) % size != 0) return false;
    if (!first) first = it->base;
    step = std::gcd(step, it->base - *first);
    counted |= it->array;
  }
  return counted || step == size;
}

/// Of a cell's candidates those with at least half of the most votes.
template <typename Use>
void ObjectEvidence::eachLikely(const Evidence& cell, const Use& use) const {
  uint32_t most = 0;
  for (const Candidate& candidate : cell.candidates) most = std::max(most, candidate.votes);
  for (const Candidate& candidate : cell.candidates)
    if (candidate.votes * 2 >= most) use(candidate, sorts_[candidate.sort]);
}

/// What a pointer held is known where a register still has it. Other code shows an element alone: that is in
/// the only array which the pointer was seen to lead to.
void ObjectEvidence::gatherPointedArrays() {
  const auto isPointed = [](const Hypothesis& sort) {
    return sort.origin != 0 && sort.size != 0 && !inference::isOff(inference::NamingRule::pointers);
  };
  for (const auto& [key, cell] : cells_)
    eachLikely(cell, [&, &at = key, &of = cell](const Candidate& candidate, const Hypothesis& sort) {
      if (!isPointed(sort) || !sort.array || sort.indexed || candidate.offset > at.offset) return;
      const uint64_t base = at.offset - candidate.offset;
      const uint64_t elements = candidate.offset / sort.size + 1;
      pointed_.push_back({at.space, candidate.sort, base, base + elements * sort.size, candidate.votes,
                          of.isTimed() ? of.first : 0, of.last});
    });
  const auto identity = [this](const PointedArray& array) {
    const Hypothesis& sort = sorts_[array.sort];
    return std::tuple(array.space, array.base, sort.name, sort.binary, sort.origin);
  };
  std::sort(pointed_.begin(), pointed_.end(), [&](const PointedArray& a, const PointedArray& b) {
    return std::tuple(identity(a), a.sort) < std::tuple(identity(b), b.sort);
  });
  size_t kept = 0;
  for (const PointedArray array : pointed_) {
    if (kept == 0 || identity(pointed_[kept - 1]) != identity(array)) {
      pointed_[kept++] = array;
      continue;
    }
    PointedArray& same = pointed_[kept - 1];
    same.end = std::max(same.end, array.end);
    same.votes += array.votes;
    same.first = std::min(same.first, array.first);
    same.last = std::max(same.last, array.last);
  }
  pointed_.resize(kept);

  std::map<std::tuple<uint32_t, uint32_t, uint64_t, uint32_t>, PointedArray*>
      only;  // null: there are several
  const auto pointerOf = [](uint32_t space, const Hypothesis& sort) {
    return std::tuple(space, sort.binary, sort.origin, sort.name);
  };
  for (PointedArray& array : pointed_) {
    const auto [known, isNew] = only.try_emplace(pointerOf(array.space, sorts_[array.sort]), &array);
    if (!isNew) known->second = nullptr;
  }
  for (const auto& [key, cell] : cells_)
    eachLikely(cell, [&, &at = key](const Candidate& candidate, const Hypothesis& sort) {
      if (!isPointed(sort) || sort.array) return;
      const auto known = only.find(pointerOf(at.space, sort));
      if (known == only.end() || known->second == nullptr || known->second->base > at.offset) return;
      PointedArray& array = *known->second;
      const uint64_t ahead = at.offset - array.base;
      if (array.votes >= kSpeaksForOthers && ahead % sort.size == candidate.offset % sort.size)
        array.end = std::max(array.end, array.base + (ahead / sort.size + 1) * sort.size);
    });
}

/// Whether an element has, at `offset`, what code takes the place `inside` bytes further on for.
bool ObjectEvidence::isInElement(const Hypothesis& element, const Hypothesis& sort, uint64_t offset,
                                 uint64_t inside) {
  if (sort.size != 0 && !sort.open) inside %= sort.size;
  if (inside > offset) return false;
  const types::TypeTable& table = typed_.table(element.binary);
  return sort.binary == element.binary ? types::contains(table, element.type, offset - inside, sort.type)
                                       : types::containsSame(table, element.type, offset - inside,
                                                             typed_.table(sort.binary), sort.type);
}

/// The array whose elements have at `position` what `sort` is, `inside` bytes into it; or, of code that says
/// nothing (null), what many votes say was there in the cell's time. The largest elements first.
const ObjectEvidence::PointedArray* ObjectEvidence::pointedArray(Position position, const Evidence& cell,
                                                                 const Hypothesis* sort, uint64_t inside) {
  auto it = std::upper_bound(pointed_.begin(), pointed_.end(), std::pair(position.space, position.offset),
                             [](const auto& place, const PointedArray& array) {
                               return place < std::pair(array.space, array.base);
                             });
  const PointedArray* best = nullptr;
  const auto rank = [this](const PointedArray& array) {
    return std::tuple(sorts_[array.sort].size, sorts_[array.sort].layers, array.votes);
  };
  for (int i = 0; i < kArraySearch && it != pointed_.begin(); ++i) {
    const PointedArray& array = *--it;
    if (array.space != position.space) break;
    if (position.offset >= array.end) continue;
    const Hypothesis& element = sorts_[array.sort];
    const uint64_t offset = (position.offset - array.base) % element.size;
    const bool fits = sort != nullptr ? isInElement(element, *sort, offset, inside)
                                      : array.votes >= kSpeaksForOthers && cell.first <= array.last &&
                                            array.first <= cell.last;
    if (fits && (best == nullptr || rank(array) > rank(*best))) best = &array;
  }
  return best;
}

/// What was agreed on (null: nothing) at a place is in an element of an array that has a name.
void ObjectEvidence::placeInArray(AgreedObject& agreed, Position position, const Evidence& cell,
                                  const Hypothesis* sort) {
  if (sort != nullptr && (sort->how == inference::CodeObject::How::stack || !agreed.others.empty())) return;
  const PointedArray* array = pointedArray(position, cell, sort, agreed.place.offset);
  if (array == nullptr) {
    if (sort != nullptr && agreed.origin == 0) agreed.origin = sort->origin;
    if (agreed.place.array) agreed.origin = 0;  // of the array around it nothing is known
    return;
  }
  const Hypothesis& element = sorts_[array->sort];
  if (sort == nullptr)
    agreed.because = because(element) + ", of other accesses to the array";
  else if (sort->name != element.name)
    agreed.because += "; this is a member of an element";
  agreed.how = How::code;
  agreed.place = {};
  agreed.place.binary = element.binary;
  agreed.place.type = element.type;
  agreed.place.offset = position.offset - array->base;
  agreed.place.based = agreed.place.array = true;
  agreed.arrayBase = array->base;
  agreed.enclosing = {};
  agreed.name = element.name;
  agreed.origin = element.origin;
}

}  // namespace cacheline::analysis
