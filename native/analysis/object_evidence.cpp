// Evidence for objects, and what it agrees on.
#include "analysis/object_evidence.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/doubt_text.h"
#include "inference/found_objects.h"
#include "inference/naming_rules.h"
#include "types/field_path.h"

namespace cacheline::analysis {

namespace {

using CodeHow = inference::CodeObject::How;

// Of each place and instruction (kFirst), and of instructions that never answered: so many samples are
// evaluated, then one in kThen.
constexpr uint32_t kHopeless = 32, kThen = 64;
constexpr size_t kMaxCandidates = 6;  // of a place and an instruction
constexpr int kObjectSearch = 64;     // objects looked at that begin below a place
// Instructions whose code is followed without registers, those that were seen first: each costs some
// 0.2 ms in a large function.
constexpr uint32_t kMostFollowed = 1000;
constexpr uint64_t kBelowStackTop = 128, kDeepestStack = 8 << 20;  // bytes

/// The frame of the running function and those of its callers.
bool isOnOwnStack(const Registers& registers, uint64_t address) {
  const uint64_t below = registers.value[kRegSp] - kBelowStackTop;
  return registers.has(kRegSp) && address >= below && address - below < kDeepestStack;
}

}  // namespace

void ObjectEvidence::Evidence::add(const Candidate& candidate) {
  for (Candidate& known : candidates) {
    if (known.hypothesis != candidate.hypothesis || known.offset != candidate.offset) continue;
    known.support += candidate.support;
    return;
  }
  if (candidates.size() < kMaxCandidates) candidates.push_back(candidate);
}

ObjectEvidence::Location& ObjectEvidence::locationOf(const Observation& seen) {
  if (locations_.size() <= seen.location) locations_.resize(seen.location + size_t{1});
  Location& location = locations_[seen.location];
  location.binary = seen.binary;
  location.access = seen.access;
  location.width = seen.width;
  return location;
}

void ObjectEvidence::add(const Observation& seen) {
  if (seen.binary == kNone || !typed_.described(seen.binary)) return;
  Evidence& evidence = evidence_[Key{seen.position.offset, seen.position.space, seen.location}];
  if (evidence.seen == 0) evidence.first = seen.time;
  evidence.seen += seen.samples;
  evidence.last = seen.time;
  evidence.ownStack |= isOnOwnStack(*seen.registers, seen.address);
  if (evidence.seen > kFirst && (evidence.seen - kFirst - 1) % evidence.step == 0)
    evidence.keepTime(seen.time);
  if (seen.samples == 1 && evidence.seen > kFirst && evidence.seen % kThen != 0) return;
  Location& location = locationOf(seen);
  ++location.evaluated;
  if (location.answered == 0 && location.evaluated > kHopeless && location.evaluated % kThen != 0) return;
  evaluate(seen, location, evidence);
}

void ObjectEvidence::add(std::span<const Observation> rows) {
  std::vector<uint32_t> locations;
  const auto each = [&](auto use) {
    for (const Observation& row : rows) {
      if (row.binary == kNone || !typed_.described(row.binary)) continue;
      Evidence& evidence = evidence_[Key{row.position.offset, row.position.space, row.location}];
      use(evidence, locationOf(row), row.location);
    }
  };
  each([&](Evidence& evidence, Location&, uint32_t location) {
    if (evidence.seen++ == 0) evidence.last = ~uint64_t{0};
    if (!evidence.answered) locations.push_back(location);
  });
  follow(std::move(locations));
  each([&](Evidence& evidence, Location& location, uint32_t) {
    if (!evidence.answered) addByCode(location, evidence);
  });
}

void ObjectEvidence::evaluate(const Observation& seen, Location& location, Evidence& evidence) {
  inference::LiveVariables& live = typed_.live(seen.binary);
  inference::Doubt doubt;
  const std::vector<inference::CodeObject> objects =
      live.objectsAt(seen.access, seen.ip, seen.loadBias, *seen.registers, seen.address, seen.width, &doubt);
  if (!objects.empty()) ++location.answered;
  evidence.answered |= !objects.empty();
  if (objects.empty()) {
    location.undefined = live.undefinedAt(seen.access, seen.ip);
    if (location.doubt.empty()) location.doubt = doubtText(typed_.table(seen.binary), doubt);
  }
  for (const inference::CodeObject& object : objects) {
    const uint64_t offset = seen.address - object.base;
    if (object.type == types::kNoType || object.base > seen.address || offset > seen.position.offset)
      continue;
    // A followed address may be that of the element itself.
    const bool array = object.array && (object.how != CodeHow::propagated ||
                                        offset >= typed_.table(seen.binary).sizeOf(object.type).value_or(0));
    evidence.add({hypothesisOf(location, object, array, false), 1, offset});
  }
}

uint32_t ObjectEvidence::hypothesisOf(Location& location, const inference::CodeObject& object, bool array,
                                      bool indexed) {
  for (const uint32_t index : location.hypotheses) {
    const Hypothesis& known = hypotheses_[index];
    if (known.type == object.type && known.how == object.how && known.array == array &&
        known.indexed == indexed && known.enclosing == object.enclosing &&
        known.variable == object.variable && known.function == object.function &&
        known.origin == object.origin)
      return index;
  }
  const types::TypeTable& table = typed_.table(location.binary);
  Hypothesis hypothesis;
  hypothesis.how = object.how;
  hypothesis.binary = location.binary;
  hypothesis.type = object.type;
  hypothesis.size = table.sizeOf(object.type).value_or(0);
  hypothesis.layers = inference::layersOf(table, object.type);
  hypothesis.open = types::endsInFlexibleArray(table, object.type);
  hypothesis.array = array;
  hypothesis.indexed = indexed;
  hypothesis.origin = object.origin;
  hypothesis.pointer = object.pointer;
  hypothesis.bytes =
      hypothesis.size == 1 && location.width > 1 && !inference::isOff(inference::NamingRule::bytes);
  hypothesis.enclosing = object.enclosing;
  hypothesis.enclosingOffset = object.enclosingOffset;
  hypothesis.variable = object.variable;
  hypothesis.ofPointer = object.ofPointer;
  hypothesis.function = object.function;
  const std::string name = table.nameOf(table.strip(object.type)) + ' ' + std::to_string(hypothesis.size) +
                           ' ' + std::to_string(location.binary);
  hypothesis.name = names_.try_emplace(name, static_cast<uint32_t>(names_.size())).first->second;
  location.hypotheses.push_back(static_cast<uint32_t>(hypotheses_.size()));
  hypotheses_.push_back(std::move(hypothesis));
  return location.hypotheses.back();
}

/// Where no variable answers, the type of the base register may be known from the code before. As many
/// locations as are still followed are asked for it by address, so that each function is read once and then
/// dropped.
void ObjectEvidence::follow(std::vector<uint32_t> locations) {
  std::erase_if(locations, [this](uint32_t index) {
    Location& location = locations_[index];
    if (location.tracked || followed_ == kMostFollowed) return true;
    ++followed_;
    location.tracked = true;
    return false;
  });
  std::sort(locations.begin(), locations.end(), [this](uint32_t a, uint32_t b) {
    return std::tie(locations_[a].binary, locations_[a].access) <
           std::tie(locations_[b].binary, locations_[b].access);
  });
  following_ = std::move(locations);
  ends_.work(following_.size(), [this](size_t i) { followOne(following_[i], typed_); });
  for (const uint32_t index : following_) {
    Location& location = locations_[index];
    if (!location.found || location.foundIn == &typed_) continue;
    if (const auto same = typed_.types(location.binary)
                              .table()
                              .sameAs(location.foundIn->table(location.binary), location.found->type))
      location.found->type = *same;
    else
      followOne(index, typed_);
  }
}

void ObjectEvidence::followOne(uint32_t index, TypedBinaries& typed) {
  Location& location = locations_[index];
  inference::Doubt doubt;
  location.found = typed.live(location.binary).operandType(location.access, &doubt);
  if (!location.found && location.doubt.empty())
    location.doubt = doubtText(typed.table(location.binary), doubt);
  location.foundIn = &typed;
}

void ObjectEvidence::help(TypedBinaries& typed) {
  ends_.help([&](size_t i) { followOne(following_[i], typed); });
}

void ObjectEvidence::addByCode(Location& location, Evidence& evidence) {
  if (const auto found = std::exchange(location.found, std::nullopt);
      found && found->type != types::kNoType) {
    inference::CodeObject object;
    object.how = !found->variable.empty() ? CodeHow::threadLocal
                 : found->around          ? CodeHow::around
                                          : CodeHow::propagated;
    object.variable = found->variable;
    object.type = found->type;
    object.origin = found->origin;
    object.pointer = found->pointer;
    location.operand = Candidate{hypothesisOf(location, object, false, found->indexed), 0, found->offset};
    hypotheses_[location.operand->hypothesis].element = found->element;
  }
  if (!location.operand) return;
  Candidate candidate = *location.operand;
  candidate.support = 1;
  evidence.add(candidate);
}

/// A candidate whose start is known, rather what the code has than what may be around it, the largest, then
/// that with most support.
const ObjectEvidence::Candidate* ObjectEvidence::choose(const Evidence& evidence) const {
  const auto rank = [this](const Candidate& candidate) {
    const Hypothesis& hypothesis = hypotheses_[candidate.hypothesis];
    const bool within = !hypothesis.indexed && (hypothesis.array || hypothesis.open || hypothesis.size == 0 ||
                                                candidate.offset < hypothesis.size);
    const uint64_t size = hypothesis.open ? std::max(hypothesis.size, candidate.offset + 1) : hypothesis.size;
    return std::tuple(within, hypothesis.how != CodeHow::around, size, hypothesis.layers, hypothesis.array,
                      candidate.support, ~candidate.offset, ~hypothesis.name);
  };
  const Candidate* best = nullptr;
  for (const Candidate& candidate : evidence.candidates)
    if (best == nullptr || rank(candidate) > rank(*best)) best = &candidate;
  return best;
}

void ObjectEvidence::followSilent() {
  std::vector<uint32_t> silent;
  for (const auto& [key, evidence] : evidence_)
    if (evidence.candidates.empty()) silent.push_back(key.location);
  follow(std::move(silent));
  for (auto it = evidence_.begin(); it != evidence_.end(); ++it)
    if (it->second.candidates.empty()) addByCode(locations_[it->first.location], it.value());
}

void ObjectEvidence::gatherObjects() {
  for (const auto& [key, evidence] : evidence_) {
    const Candidate* chosen = choose(evidence);
    if (chosen == nullptr || hypotheses_[chosen->hypothesis].indexed || chosen->offset > key.offset) continue;
    const Hypothesis& hypothesis = hypotheses_[chosen->hypothesis];
    Object object;
    object.space = key.space;
    object.hypothesis = chosen->hypothesis;
    object.base = object.arrayBase = key.offset - chosen->offset;
    object.end = std::max(object.base + hypothesis.size, key.offset + 1);
    object.support = chosen->support;
    object.first = evidence.isTimed() ? evidence.first : ~uint64_t{0};
    object.last = evidence.isTimed() ? evidence.last : 0;
    object.array = hypothesis.array;
    objects_.push_back(object);
  }
  // The same object from several places becomes one.
  const auto identity = [this](const Object& object) {
    return std::tuple(object.space, object.base, hypotheses_[object.hypothesis].name);
  };
  std::sort(objects_.begin(), objects_.end(), [&](const Object& a, const Object& b) {
    return std::tuple(identity(a), ~a.support, a.hypothesis) <
           std::tuple(identity(b), ~b.support, b.hypothesis);
  });
  size_t kept = 0;
  for (size_t i = 0; i < objects_.size(); ++i) {
    const Object object = objects_[i];
    if (kept == 0 || identity(objects_[kept - 1]) != identity(object)) {
      objects_[kept++] = object;
      continue;
    }
    Object& same = objects_[kept - 1];
    if (hypotheses_[same.hypothesis].origin == 0 && hypotheses_[object.hypothesis].origin != 0)
      same.hypothesis = object.hypothesis;
    same.end = std::max(same.end, object.end);
    same.support += object.support;
    same.first = std::min(same.first, object.first);
    same.last = std::max(same.last, object.last);
    same.array |= object.array;
  }
  objects_.resize(kept);
  // Rows alone do not say when.
  for (Object& object : objects_)
    if (object.first > object.last)
      std::tie(object.first, object.last) = std::pair(uint64_t{0}, ~uint64_t{0});
}

/// In the order of the alphabet, whatever was sampled first: where nothing else tells, that decides.
void ObjectEvidence::numberNames() {
  std::vector<std::pair<std::string_view, uint32_t>> byText(names_.begin(), names_.end());
  std::sort(byText.begin(), byText.end());
  std::vector<uint32_t> numbers(byText.size());
  for (uint32_t i = 0; i < byText.size(); ++i) numbers[byText[i].second] = i;
  for (auto it = names_.begin(); it != names_.end(); ++it) it.value() = numbers[it->second];
  for (Hypothesis& hypothesis : hypotheses_) hypothesis.name = numbers[hypothesis.name];
}

void ObjectEvidence::agree() {
  followSilent();
  numberNames();
  gatherObjects();
  joinArrays();
  gatherPointedArrays();
}

const ObjectEvidence::Object* ObjectEvidence::objectAt(uint32_t space, uint64_t base, uint32_t name) const {
  const auto key = std::tuple(space, base, name);
  const auto it =
      std::lower_bound(objects_.begin(), objects_.end(), key, [this](const Object& a, const auto& b) {
        return std::tuple(a.space, a.base, hypotheses_[a.hypothesis].name) < b;
      });
  return it != objects_.end() && std::tuple(it->space, it->base, hypotheses_[it->hypothesis].name) == key
             ? &*it
             : nullptr;
}

/// The objects that others agreed on and that hold the place, the largest first: of `own` as a member, or,
/// where the place's own code says nothing, with support enough. They must have been there at the same time.
std::vector<const ObjectEvidence::Object*> ObjectEvidence::around(Position position, const Evidence& evidence,
                                                                  const Candidate* own) {
  const auto above = std::upper_bound(
      objects_.begin(), objects_.end(), std::pair(position.space, position.offset),
      [](const auto& place, const Object& object) { return place < std::pair(object.space, object.base); });
  std::vector<const Object*> found;
  auto it = above;
  for (int i = 0; i < kObjectSearch && it != objects_.begin(); ++i) {
    --it;
    const Object& object = *it;
    if (object.space != position.space) break;
    const Hypothesis& hypothesis = hypotheses_[object.hypothesis];
    if (position.offset >= object.end || evidence.first > object.last || object.first > evidence.last)
      continue;
    if (own == nullptr) {
      if (inference::isOff(inference::NamingRule::silent)) break;
      // A function's own frame is where others had their variables before.
      if (hypothesis.bytes || (evidence.ownStack && hypothesis.how == CodeHow::stack &&
                               !inference::isOff(inference::NamingRule::ownStack)))
        continue;
      if (object.support >= kSpeaksForOthers) found.push_back(&object);
      continue;
    }
    const Hypothesis& inner = hypotheses_[own->hypothesis];
    if (own->offset > position.offset - object.base || (hypothesis.size <= inner.size && !hypothesis.open))
      continue;
    uint64_t offset = position.offset - own->offset - object.base;
    if (!hypothesis.open) offset %= hypothesis.size;
    const types::TypeTable& table = typed_.table(hypothesis.binary);
    const bool member =
        hypothesis.binary == inner.binary
            ? types::contains(table, hypothesis.type, offset, inner.type)
            : types::containsSame(table, hypothesis.type, offset, typed_.table(inner.binary), inner.type);
    // `uintptr *` of a function for atomics: whatever member of that size is there. Not on stacks, where one
    // function's words follow another's.
    const bool isWord = !inference::isOff(inference::NamingRule::words) &&
                        object.support >= kSpeaksForOthers && own->offset == 0 && !inner.array &&
                        inner.how != CodeHow::stack && hypothesis.how != CodeHow::stack &&
                        typed_.table(inner.binary).kind(inner.type) == types::Kind::base &&
                        types::isField(table, hypothesis.type, offset, static_cast<uint32_t>(inner.size));
    if ((member && !inference::isOff(inference::NamingRule::around)) || isWord) found.push_back(&object);
  }
  const auto reach = [&](const Object* object) {
    const Hypothesis& hypothesis = hypotheses_[object->hypothesis];
    return hypothesis.open ? std::max(hypothesis.size, position.offset + 1 - object->base) : hypothesis.size;
  };
  const auto rank = [&](const Object* object) {
    const Hypothesis& hypothesis = hypotheses_[object->hypothesis];
    return std::tuple(~reach(object), ~hypothesis.layers, hypothesis.name);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Object* a, const Object* b) { return rank(a) < rank(b); });
  return found;
}

std::string ObjectEvidence::because(const Hypothesis& hypothesis) const {
  const std::string in = hypothesis.function.empty() ? "" : " in " + hypothesis.function;
  if (hypothesis.how == CodeHow::stack) return "local variable `" + hypothesis.variable + "`" + in;
  if (hypothesis.how == CodeHow::pointer)
    return (hypothesis.ofPointer ? "pointer `" : "what variable `") + hypothesis.variable +
           (hypothesis.ofPointer ? "`" : "` leads to") + in;
  if (hypothesis.how == CodeHow::threadLocal) return "thread-local variable `" + hypothesis.variable + "`";
  if (hypothesis.how == CodeHow::around)
    return "the code has a pointer to a member, and only one type contains such a member";
  return kFollowed + in;
}

AgreedObject ObjectEvidence::at(Position position, std::span<const uint32_t> locations) {
  Evidence evidence;
  bool followed = false;
  for (const uint32_t location : locations) {
    const auto it = evidence_.find(Key{position.offset, position.space, location});
    if (it == evidence_.end()) continue;
    const Evidence& one = it->second;
    evidence.first = evidence.seen == 0 ? one.first : std::min(evidence.first, one.first);
    evidence.last = std::max(evidence.last, one.last);
    evidence.seen += one.seen;
    evidence.ownStack |= one.ownStack;
    followed |= locations_[location].tracked || !one.candidates.empty();
    for (const Candidate& candidate : one.candidates) evidence.add(candidate);
  }
  AgreedObject agreed;
  if (locations.empty())
    evidence.last = ~uint64_t{0};
  else if (evidence.seen == 0)
    return agreed;
  const Candidate* own = choose(evidence);
  const bool indexed = own != nullptr && hypotheses_[own->hypothesis].indexed;
  if (own != nullptr && !indexed) {
    // What else was seen of the same object tells for how long it was there.
    const Object* whole =
        objectAt(position.space, position.offset - own->offset, hypotheses_[own->hypothesis].name);
    if (whole != nullptr) {
      evidence.first = std::min(evidence.first, whole->first);
      evidence.last = std::max(evidence.last, whole->last);
    }
  }
  const bool silent = own == nullptr || hypotheses_[own->hypothesis].bytes;
  std::vector<const Object*> enclosingTypes = around(position, evidence, silent || indexed ? nullptr : own);
  // What others take an element for is a part of it.
  if (indexed)
    std::erase_if(enclosingTypes, [&](const Object* one) {
      return !hypotheses_[one->hypothesis].open &&
             hypotheses_[one->hypothesis].size <= hypotheses_[own->hypothesis].element;
    });
  const std::vector<LifetimeShare> lifetimes = lifetimesOf(enclosingTypes, position, locations);
  const Object* object = lifetimes.empty() ? nullptr : lifetimes.front().object;
  if (own == nullptr && object == nullptr) {
    placeInArray(agreed, position, evidence, nullptr);
    if (agreed.place) return agreed;
    for (const uint32_t index : locations)
      if (const Location& location = locations_[index]; location.undefined != types::kNoType)
        agreed.undefined = typed_.table(location.binary).nameOf(location.undefined);
    if (!agreed.undefined.empty())
      agreed.because = "a variable that is live at the access points to " + agreed.undefined +
                       ", which the debug information does not define";
    for (const uint32_t index : locations)
      if (agreed.because.empty()) agreed.because = locations_[index].doubt;
    if (agreed.because.empty() && !followed && !locations.empty())
      agreed.because = "the code there was not followed: only the first " + std::to_string(kMostFollowed) +
                       " instructions of a report are";
    return agreed;
  }
  const bool outer = object != nullptr;
  const Hypothesis& hypothesis = hypotheses_[outer ? object->hypothesis : own->hypothesis];
  agreed.how = hypothesis.how == CodeHow::stack ? How::stack : How::code;
  agreed.because = because(hypothesis);
  if (outer)
    agreed.because += silent ? ", from other accesses to the object" : "; this is one of its members";
  agreed.place.binary = hypothesis.binary;
  agreed.place.type = hypothesis.type;
  agreed.name = hypothesis.name;
  agreed.place.based = !hypothesis.indexed;
  agreed.place.array = hypothesis.array;
  agreed.place.element = hypothesis.element;
  agreed.place.offset = outer ? position.offset - object->base : own->offset;
  if (!outer && !indexed) object = objectAt(position.space, position.offset - own->offset, hypothesis.name);
  if (object != nullptr) {
    agreed.arrayBase = object->arrayBase;
    agreed.place.array |= object->array;
    agreed.origin = hypotheses_[object->hypothesis].origin;
    agreed.pointer = hypotheses_[object->hypothesis].pointer;
  }
  if (hypothesis.enclosing != types::kNoType && !agreed.place.array &&
      agreed.place.offset < hypothesis.size) {
    agreed.enclosing.binary = hypothesis.binary;
    agreed.enclosing.type = hypothesis.enclosing;
    agreed.enclosing.offset = hypothesis.enclosingOffset + agreed.place.offset;
    agreed.enclosing.element = hypothesis.size;
  }
  addOthers(std::span(lifetimes).subspan(lifetimes.empty() ? 0 : 1), position, agreed);
  placeInArray(agreed, position, evidence, &hypothesis);
  return agreed;
}

uint32_t ObjectEvidence::kindAt(Position position, uint32_t location) {
  constexpr uint32_t kNoVote = 0, kSilent = 1, kFirstKind = 2;
  const auto it = evidence_.find(Key{position.offset, position.space, location});
  if (it == evidence_.end()) return kNoVote;
  const Evidence& evidence = it->second;
  if (evidence.isTimed() || evidence.answered || evidence.candidates.size() > 1) return kNone;
  if (evidence.candidates.empty()) return kSilent;
  const Candidate& candidate = evidence.candidates.front();
  Hypothesis& hypothesis = hypotheses_[candidate.hypothesis];
  if (hypothesis.kind == kNone || hypothesis.kindOffset != candidate.offset) {
    const uint32_t flags =
        (hypothesis.array ? 1 : 0) | (hypothesis.indexed ? 2 : 0) | (hypothesis.bytes ? 4 : 0);
    const auto next = kFirstKind + static_cast<uint32_t>(kinds_.size());
    hypothesis.kind = kinds_
                          .try_emplace({hypothesis.how, hypothesis.binary, hypothesis.type, flags,
                                        hypothesis.element, hypothesis.origin, candidate.offset},
                                       next)
                          .first->second;
    hypothesis.kindOffset = candidate.offset;
  }
  return hypothesis.kind;
}

}  // namespace cacheline::analysis
