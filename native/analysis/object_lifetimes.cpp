// Objects that lay at one place one after the other, by the times of the samples.
#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/object_evidence.h"
#include "inference/naming_rules.h"
#include "types/field_path.h"
#include "types/type_reader.h"

namespace cacheline::analysis {

namespace {
constexpr size_t kMostLifetimes = 4;  // objects of a place that are told of
constexpr size_t kMostTimes = 32;     // kept of a place and an instruction
}  // namespace

void ObjectEvidence::Evidence::keepTime(uint64_t time) {
  if (times.size() == kMostTimes) {
    for (size_t i = 0; i < kMostTimes / 2; ++i) times[i] = times[2 * i];
    times.resize(kMostTimes / 2);
    step *= 2;
  }
  if (times.empty()) times.reserve(kMostTimes);
  times.push_back(time);
}

/// Whether `inner` is a part of `outer` by its type, so that both may be one.
bool ObjectEvidence::holds(const Object& outer, const Object& inner) {
  const Hypothesis &hypothesis = hypotheses_[outer.hypothesis], &part = hypotheses_[inner.hypothesis];
  if (inner.base < outer.base || (hypothesis.size == 0 && !hypothesis.open)) return false;
  uint64_t offset = inner.base - outer.base;
  if (!hypothesis.open) offset %= hypothesis.size;
  const types::TypeTable& table = typed_.table(hypothesis.binary);
  return hypothesis.binary == part.binary
             ? types::contains(table, hypothesis.type, offset, part.type)
             : types::containsSame(table, hypothesis.type, offset, typed_.table(part.binary), part.type);
}

bool ObjectEvidence::hasOthers(const AgreedObject& element, const Lifetime& lifetime) const {
  constexpr uint64_t kStray = 16;  // one sample of so many may be a stale register's
  const types::TypeTable& table = typed_.table(element.place.binary);
  const uint64_t size = table.sizeOf(element.place.type).value_or(0);
  auto it = std::lower_bound(
      objects_.begin(), objects_.end(), std::pair(lifetime.begin.space, lifetime.begin.offset),
      [](const Object& object, const auto& place) { return std::pair(object.space, object.base) < place; });
  uint64_t elements = 0, others = 0;
  for (; size != 0 && it != objects_.end() && it->space == lifetime.begin.space; ++it) {
    const uint64_t ahead = it->base - lifetime.begin.offset;
    if (ahead >= lifetime.bytes) break;
    const Hypothesis& hypothesis = hypotheses_[it->hypothesis];
    const types::TypeTable& its = typed_.table(hypothesis.binary);
    if (hypothesis.name == element.name) elements += it->support;
    if (hypothesis.name == element.name || hypothesis.size == 0 || hypothesis.size > size ||
        it->last < lifetime.from || it->first > lifetime.to ||
        !types::isAggregate(its.kind(its.strip(hypothesis.type))))
      continue;
    const bool isPart =
        hypothesis.binary == element.place.binary
            ? types::contains(table, element.place.type, ahead % size, hypothesis.type)
            : types::containsSame(table, element.place.type, ahead % size, its, hypothesis.type);
    if (!isPart) others += it->support;
  }
  return others * kStray > elements && !inference::isOff(inference::NamingRule::pools);
}

/// Whether they cannot be one object, nor were seen at the same time.
bool ObjectEvidence::isApart(const Object& a, const Object& b) {
  const bool times = a.last < b.first || b.last < a.first || (!a.isTimed() && !b.isTimed());
  return times && hypotheses_[a.hypothesis].name != hypotheses_[b.hypothesis].name && !holds(a, b) &&
         !holds(b, a);
}

/// Freed memory that was used again: the objects that lay there one after the other, by share of the samples.
std::vector<ObjectEvidence::LifetimeShare> ObjectEvidence::lifetimesOf(
    const std::vector<const Object*>& objects, Position position, std::span<const uint32_t> locations) {
  std::vector<LifetimeShare> lifetimes;
  for (const Object* object : objects) {
    if (inference::isOff(inference::NamingRule::lifetimes) && !lifetimes.empty()) break;
    const bool speaks = lifetimes.empty() || !object->isTimed() || object->support >= kSpeaksForOthers;
    const auto isOther = [&](const LifetimeShare& lifetime) { return isApart(*lifetime.object, *object); };
    if (speaks && lifetimes.size() < kMostLifetimes &&
        std::all_of(lifetimes.begin(), lifetimes.end(), isOther))
      lifetimes.push_back({object, {}});
  }
  if (lifetimes.size() < 2) return lifetimes;
  std::vector<double> samples(lifetimes.size());
  double all = 0;
  const auto count = [&](uint64_t time, double number) {
    size_t nearest = 0;
    uint64_t least = ~uint64_t{0};
    for (size_t i = 0; i < lifetimes.size(); ++i) {
      const Object& object = *lifetimes[i].object;
      const uint64_t distance = time < object.first  ? object.first - time
                                : time > object.last ? time - object.last
                                                     : 0;
      if (distance < least) std::tie(nearest, least) = std::pair(i, distance);
    }
    samples[nearest] += number;
    all += number;
  };
  for (const uint32_t location : locations) {
    const auto it = evidence_.find(Key{position.offset, position.space, location});
    if (it == evidence_.end() || !it->second.isTimed()) continue;
    const Evidence& evidence = it->second;
    const double first = std::min(evidence.seen, kFirst);
    count(evidence.first, evidence.times.empty() ? first / 2 : first);
    if (evidence.times.empty()) count(evidence.last, first / 2);
    for (const uint64_t time : evidence.times)
      count(time, (evidence.seen - first) / static_cast<double>(evidence.times.size()));
  }
  if (all == 0) return lifetimes;
  for (size_t i = 0; i < lifetimes.size(); ++i) lifetimes[i].share = samples[i] / all;
  std::erase_if(lifetimes, [](const LifetimeShare& lifetime) { return *lifetime.share == 0; });
  std::stable_sort(lifetimes.begin(), lifetimes.end(),
                   [](const LifetimeShare& a, const LifetimeShare& b) { return *a.share > *b.share; });
  return lifetimes;
}

void ObjectEvidence::addOthers(std::span<const LifetimeShare> others, Position position,
                               AgreedObject& agreed) const {
  for (const LifetimeShare& each : others) {
    const Object& other = *each.object;
    const Hypothesis& hypothesis = hypotheses_[other.hypothesis];
    AgreedObject::Other& there = agreed.others.emplace_back();
    there.place.binary = hypothesis.binary;
    there.place.type = hypothesis.type;
    there.place.offset = position.offset - other.base;
    there.place.based = true;
    there.place.array = other.array;
    there.arrayBase = other.arrayBase;
    there.first = other.first;
    there.last = other.last;
    there.share = each.share;
  }
}

}  // namespace cacheline::analysis
