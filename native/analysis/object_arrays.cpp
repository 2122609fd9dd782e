// Objects that are elements of one array: as they lie end to end, or by the pointer with static storage that
// leads to them.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "analysis/object_evidence.h"
#include "inference/naming_rules.h"
#include "inference/pointer_names.h"
#include "types/field_path.h"

namespace cacheline::analysis {

namespace {
constexpr int kArraySearch = 16;  // arrays looked at that begin below a place
/// Bytes between two arrays: of what is nearer nobody knows whether it is one, in rows.
constexpr uint64_t kArraysApart = 128;
/// Of one variable of a function: a variable with more values goes through memory.
constexpr size_t kMostApart = 8;
}  // namespace

/// Objects of one type that lie end to end are elements of one array or pool.
void ObjectEvidence::joinArrays() {
  HashMap<uint64_t, size_t> previous;  // by space and type name
  for (size_t i = 0; i < objects_.size(); ++i) {
    Object& object = objects_[i];
    const auto [it, first] =
        previous.try_emplace((uint64_t{object.space} << 32) | hypotheses_[object.hypothesis].name, i);
    if (!first) {
      const Object& before = objects_[it->second];
      if (before.end == object.base && !inference::isOff(inference::NamingRule::joinedArrays) &&
          hypotheses_[object.hypothesis].size != 0)
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
    if (hypotheses_[it->hypothesis].name != of.name) continue;
    if ((it->base - begin.offset) % size != 0) return false;
    if (!first) first = it->base;
    step = std::gcd(step, it->base - *first);
    counted |= it->array;
  }
  return counted || step == size;
}

/// The candidates with at least half of the most support.
template <typename Use>
void ObjectEvidence::eachLikely(const Evidence& evidence, const Use& use) const {
  uint32_t most = 0;
  for (const Candidate& candidate : evidence.candidates) most = std::max(most, candidate.support);
  for (const Candidate& candidate : evidence.candidates)
    if (candidate.support * 2 >= most) use(candidate, hypotheses_[candidate.hypothesis]);
}

/// What a pointer held is known where a register still has it. Other code shows an element alone: that is in
/// the only array which the pointer was seen to lead to.
void ObjectEvidence::gatherPointedArrays() {
  const auto isPointed = [](const Hypothesis& hypothesis) {
    return hypothesis.origin != 0 && hypothesis.size != 0 &&
           !inference::isOff(inference::NamingRule::pointers);
  };
  for (const auto& [key, evidence] : evidence_)
    eachLikely(evidence, [&, &at = key, &of = evidence](const Candidate& candidate,
                                                        const Hypothesis& hypothesis) {
      if (!isPointed(hypothesis) || !hypothesis.array || hypothesis.indexed || candidate.offset > at.offset)
        return;
      const uint64_t base = at.offset - candidate.offset;
      const uint64_t elements = candidate.offset / hypothesis.size + 1;
      pointed_.push_back({at.space, candidate.hypothesis, base, base + elements * hypothesis.size,
                          candidate.support, of.isTimed() ? of.first : 0, of.last});
    });
  const auto identity = [this](const PointedArray& array) {
    const Hypothesis& hypothesis = hypotheses_[array.hypothesis];
    return std::tuple(array.space, array.base, hypothesis.name, hypothesis.binary, hypothesis.origin);
  };
  std::sort(pointed_.begin(), pointed_.end(), [&](const PointedArray& a, const PointedArray& b) {
    return std::tuple(identity(a), a.hypothesis) < std::tuple(identity(b), b.hypothesis);
  });
  size_t kept = 0;
  for (const PointedArray array : pointed_) {
    if (kept == 0 || identity(pointed_[kept - 1]) != identity(array)) {
      pointed_[kept++] = array;
      continue;
    }
    PointedArray& same = pointed_[kept - 1];
    same.end = std::max(same.end, array.end);
    same.support += array.support;
    same.first = std::min(same.first, array.first);
    same.last = std::max(same.last, array.last);
  }
  pointed_.resize(kept);

  nameArraysOnce();
  tellArraysApart();
  std::map<std::tuple<uint32_t, uint32_t, uint64_t, uint32_t>, PointedArray*>
      only;  // null: there are several
  const auto pointerOf = [](uint32_t space, const Hypothesis& hypothesis) {
    return std::tuple(space, hypothesis.binary, hypothesis.origin, hypothesis.name);
  };
  for (PointedArray& array : pointed_) {
    const auto [known, isNew] =
        only.try_emplace(pointerOf(array.space, hypotheses_[array.hypothesis]), &array);
    if (!isNew) known->second = nullptr;
  }
  for (const auto& [key, evidence] : evidence_)
    eachLikely(evidence, [&, &at = key](const Candidate& candidate, const Hypothesis& hypothesis) {
      if (!isPointed(hypothesis) || hypothesis.array) return;
      const auto known = only.find(pointerOf(at.space, hypothesis));
      if (known == only.end() || known->second == nullptr || known->second->base > at.offset) return;
      PointedArray& array = *known->second;
      const uint64_t ahead = at.offset - array.base;
      if (array.support >= kSpeaksForOthers && ahead % hypothesis.size == candidate.offset % hypothesis.size)
        array.end = std::max(array.end, array.base + (ahead / hypothesis.size + 1) * hypothesis.size);
    });
}

/// Of several pointers to the start of one array, those that are no variable of one function name it, else
/// that of most samples.
void ObjectEvidence::nameArraysOnce() {
  const auto rank = [this](const PointedArray& array) {
    const Hypothesis& hypothesis = hypotheses_[array.hypothesis];
    return std::tuple(inference::isLocalPointer(hypothesis.origin), ~array.support,
                      std::string_view(hypothesis.pointer));
  };
  for (size_t first = 0, next = 0; first < pointed_.size(); first = next) {
    const auto isSame = [&](const PointedArray& array) {
      return array.space == pointed_[first].space && array.base == pointed_[first].base &&
             hypotheses_[array.hypothesis].name == hypotheses_[pointed_[first].hypothesis].name;
    };
    while (next < pointed_.size() && isSame(pointed_[next])) ++next;
    const std::span<PointedArray> same(&pointed_[first], next - first);
    if (std::ranges::none_of(same, [&](const PointedArray& array) {
          return inference::isNumbered(hypotheses_[array.hypothesis].origin);
        }))
      continue;
    const uint32_t best = std::ranges::min_element(same, {}, [&](const PointedArray& array) {
                            return rank(array);
                          })->hypothesis;
    const uint64_t end = std::ranges::max(same, {}, &PointedArray::end).end;
    for (PointedArray& array : same) array.hypothesis = best, array.end = end;
  }
}

/// A function's variable leads to whatever array the function was called with: several are no one thing.
void ObjectEvidence::tellArraysApart() {
  std::map<std::tuple<uint32_t, uint32_t, uint64_t>, std::vector<std::vector<PointedArray*>>> apart;
  for (PointedArray& array : pointed_) {
    const Hypothesis& hypothesis = hypotheses_[array.hypothesis];
    if (!inference::isLocalPointer(hypothesis.origin) || array.support < kSpeaksForOthers) continue;
    auto& groups = apart[{array.space, hypothesis.binary, hypothesis.origin}];
    if (groups.empty() || array.base >= groups.back().back()->end + kArraysApart) groups.emplace_back();
    groups.back().push_back(&array);
  }
  for (auto& [pointer, groups] : apart) {
    if (groups.size() < 2 || groups.size() > kMostApart) continue;
    for (size_t i = 0; i < groups.size(); ++i)
      for (PointedArray* array : groups[i])
        array->which = " (" + std::to_string(i + 1) + " of " + std::to_string(groups.size()) + ')';
  }
}

/// Whether an element has, at `offset`, what code takes the place `inside` bytes further on for.
bool ObjectEvidence::isInElement(const Hypothesis& element, const Hypothesis& hypothesis, uint64_t offset,
                                 uint64_t inside) {
  if (hypothesis.size != 0 && !hypothesis.open) inside %= hypothesis.size;
  if (inside > offset) return false;
  const types::TypeTable& table = typed_.table(element.binary);
  return hypothesis.binary == element.binary
             ? types::contains(table, element.type, offset - inside, hypothesis.type)
             : types::containsSame(table, element.type, offset - inside, typed_.table(hypothesis.binary),
                                   hypothesis.type);
}

/// The array whose elements have at `position` what `hypothesis` is, `inside` bytes into it; or, of code that
/// says nothing (null), what many samples say was there at the time. The largest elements first.
const ObjectEvidence::PointedArray* ObjectEvidence::pointedArray(Position position, const Evidence& evidence,
                                                                 const Hypothesis* hypothesis,
                                                                 uint64_t inside) {
  auto it = std::upper_bound(pointed_.begin(), pointed_.end(), std::pair(position.space, position.offset),
                             [](const auto& place, const PointedArray& array) {
                               return place < std::pair(array.space, array.base);
                             });
  const PointedArray* best = nullptr;
  const auto rank = [this](const PointedArray& array) {
    return std::tuple(hypotheses_[array.hypothesis].size, hypotheses_[array.hypothesis].layers,
                      array.support);
  };
  for (int i = 0; i < kArraySearch && it != pointed_.begin(); ++i) {
    const PointedArray& array = *--it;
    if (array.space != position.space) break;
    if (position.offset >= array.end) continue;
    const Hypothesis& element = hypotheses_[array.hypothesis];
    const uint64_t offset = (position.offset - array.base) % element.size;
    const bool fits = hypothesis != nullptr
                          ? isInElement(element, *hypothesis, offset, inside)
                          : array.support >= kSpeaksForOthers && evidence.first <= array.last &&
                                array.first <= evidence.last;
    if (fits && (best == nullptr || rank(array) > rank(*best))) best = &array;
  }
  return best;
}

/// What was agreed on (null: nothing) at a place is in an element of an array that has a name.
void ObjectEvidence::placeInArray(AgreedObject& agreed, Position position, const Evidence& evidence,
                                  const Hypothesis* hypothesis) {
  if (hypothesis != nullptr &&
      (hypothesis->how == inference::CodeObject::How::stack || !agreed.others.empty()))
    return;
  const PointedArray* array = pointedArray(position, evidence, hypothesis, agreed.place.offset);
  // A few samples of other code do not rename what this code's own pointer leads to.
  if (array != nullptr && array->support < kSpeaksForOthers && hypothesis != nullptr &&
      inference::isNumbered(hypothesis->origin) &&
      hypothesis->origin != hypotheses_[array->hypothesis].origin)
    array = nullptr;
  if (array == nullptr) {
    if (hypothesis != nullptr && agreed.origin == 0) {
      agreed.origin = hypothesis->origin;
      agreed.pointer = hypothesis->pointer;
    }
    if (agreed.place.array) agreed.origin = 0;  // of the array around it nothing is known
    return;
  }
  const Hypothesis& element = hypotheses_[array->hypothesis];
  if (hypothesis == nullptr)
    agreed.because = because(element) + ", from other accesses to the array";
  else if (hypothesis->name != element.name)
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
  agreed.pointer = element.pointer + array->which;
}

}  // namespace cacheline::analysis
