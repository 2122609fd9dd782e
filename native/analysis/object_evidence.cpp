// Votes for objects, and what they agree on.
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
// Instructions whose code is followed without registers, those of the first ballots first: each costs some
// 0.2 ms in a large function.
constexpr uint32_t kMostFollowed = 1000;
constexpr uint64_t kBelowStackTop = 128, kDeepestStack = 8 << 20;  // bytes

/// The frame of the running function and those of its callers.
bool isOnOwnStack(const Registers& registers, uint64_t address) {
  const uint64_t below = registers.value[kRegSp] - kBelowStackTop;
  return registers.has(kRegSp) && address >= below && address - below < kDeepestStack;
}

}  // namespace

void ObjectEvidence::Evidence::vote(const Candidate& candidate) {
  for (Candidate& known : candidates) {
    if (known.sort != candidate.sort || known.offset != candidate.offset) continue;
    known.votes += candidate.votes;
    return;
  }
  if (candidates.size() < kMaxCandidates) candidates.push_back(candidate);
}

ObjectEvidence::Location& ObjectEvidence::siteOf(const Observation& seen) {
  if (sites_.size() <= seen.site) sites_.resize(seen.site + size_t{1});
  Location& site = sites_[seen.site];
  site.binary = seen.binary;
  site.access = seen.access;
  site.width = seen.width;
  return site;
}

void ObjectEvidence::add(const Observation& seen) {
  if (seen.binary == kNone || !typed_.described(seen.binary)) return;
  Evidence& cell = cells_[Key{seen.position.offset, seen.position.space, seen.site}];
  if (cell.seen == 0) cell.first = seen.time;
  cell.seen += seen.samples;
  cell.last = seen.time;
  cell.ownStack |= isOnOwnStack(*seen.registers, seen.address);
  if (cell.seen > kFirst && (cell.seen - kFirst - 1) % cell.step == 0) cell.keepTime(seen.time);
  if (seen.samples == 1 && cell.seen > kFirst && cell.seen % kThen != 0) return;
  Location& site = siteOf(seen);
  ++site.evaluated;
  if (site.answered == 0 && site.evaluated > kHopeless && site.evaluated % kThen != 0) return;
  evaluate(seen, site, cell);
}

void ObjectEvidence::add(std::span<const Observation> rows) {
  std::vector<uint32_t> sites;
  const auto each = [&](auto use) {
    for (const Observation& row : rows) {
      if (row.binary == kNone || !typed_.described(row.binary)) continue;
      Evidence& cell = cells_[Key{row.position.offset, row.position.space, row.site}];
      use(cell, siteOf(row), row.site);
    }
  };
  each([&](Evidence& cell, Location&, uint32_t site) {
    if (cell.seen++ == 0) cell.last = ~uint64_t{0};
    if (!cell.answered) sites.push_back(site);
  });
  follow(std::move(sites));
  each([&](Evidence& cell, Location& site, uint32_t) {
    if (!cell.answered) voteByCode(site, cell);
  });
}

void ObjectEvidence::evaluate(const Observation& seen, Location& site, Evidence& cell) {
  inference::LiveVariables& live = typed_.live(seen.binary);
  inference::Doubt doubt;
  const std::vector<inference::CodeObject> objects =
      live.objectsAt(seen.access, seen.ip, seen.loadBias, *seen.registers, seen.address, seen.width, &doubt);
  if (!objects.empty()) ++site.answered;
  cell.answered |= !objects.empty();
  if (objects.empty()) {
    site.undefined = live.undefinedAt(seen.access, seen.ip);
    if (site.doubt.empty()) site.doubt = doubtText(typed_.table(seen.binary), doubt);
  }
  for (const inference::CodeObject& object : objects) {
    const uint64_t offset = seen.address - object.base;
    if (object.type == types::kNoType || object.base > seen.address || offset > seen.position.offset)
      continue;
    // A followed address may be that of the element itself.
    const bool array = object.array && (object.how != CodeHow::propagated ||
                                        offset >= typed_.table(seen.binary).sizeOf(object.type).value_or(0));
    cell.vote({sortOf(site, object, array, false), 1, offset});
  }
}

uint32_t ObjectEvidence::sortOf(Location& site, const inference::CodeObject& object, bool array,
                                bool indexed) {
  for (const uint32_t index : site.sorts) {
    const Hypothesis& known = sorts_[index];
    if (known.type == object.type && known.how == object.how && known.array == array &&
        known.indexed == indexed && known.enclosing == object.enclosing &&
        known.variable == object.variable && known.function == object.function &&
        known.origin == object.origin)
      return index;
  }
  const types::TypeTable& table = typed_.table(site.binary);
  Hypothesis sort;
  sort.how = object.how;
  sort.binary = site.binary;
  sort.type = object.type;
  sort.size = table.sizeOf(object.type).value_or(0);
  sort.layers = inference::layersOf(table, object.type);
  sort.open = types::endsInFlexibleArray(table, object.type);
  sort.array = array;
  sort.indexed = indexed;
  sort.origin = object.origin;
  sort.bytes = sort.size == 1 && site.width > 1 && !inference::isOff(inference::NamingRule::bytes);
  sort.enclosing = object.enclosing;
  sort.enclosingOffset = object.enclosingOffset;
  sort.variable = object.variable;
  sort.ofPointer = object.ofPointer;
  sort.function = object.function;
  const std::string name = table.nameOf(table.strip(object.type)) + ' ' + std::to_string(sort.size) + ' ' +
                           std::to_string(site.binary);
  sort.name = names_.try_emplace(name, static_cast<uint32_t>(names_.size())).first->second;
  site.sorts.push_back(static_cast<uint32_t>(sorts_.size()));
  sorts_.push_back(std::move(sort));
  return site.sorts.back();
}

/// Where no variable answers, the type of the base register may be known from the code before. As many sites
/// as are still followed are asked for it by address, so that each function is read once and then dropped.
void ObjectEvidence::follow(std::vector<uint32_t> sites) {
  std::erase_if(sites, [this](uint32_t index) {
    Location& site = sites_[index];
    if (site.tracked || followed_ == kMostFollowed) return true;
    ++followed_;
    site.tracked = true;
    return false;
  });
  std::sort(sites.begin(), sites.end(), [this](uint32_t a, uint32_t b) {
    return std::tie(sites_[a].binary, sites_[a].access) < std::tie(sites_[b].binary, sites_[b].access);
  });
  following_ = std::move(sites);
  ends_.work(following_.size(), [this](size_t i) { followOne(following_[i], typed_); });
  for (const uint32_t index : following_) {
    Location& site = sites_[index];
    if (!site.found || site.foundIn == &typed_) continue;
    if (const auto same =
            typed_.types(site.binary).table().sameAs(site.foundIn->table(site.binary), site.found->type))
      site.found->type = *same;
    else
      followOne(index, typed_);
  }
}

void ObjectEvidence::followOne(uint32_t index, TypedBinaries& typed) {
  Location& site = sites_[index];
  inference::Doubt doubt;
  site.found = typed.live(site.binary).operandType(site.access, &doubt);
  if (!site.found && site.doubt.empty()) site.doubt = doubtText(typed.table(site.binary), doubt);
  site.foundIn = &typed;
}

void ObjectEvidence::help(TypedBinaries& typed) {
  ends_.help([&](size_t i) { followOne(following_[i], typed); });
}

void ObjectEvidence::voteByCode(Location& site, Evidence& cell) {
  if (const auto found = std::exchange(site.found, std::nullopt); found && found->type != types::kNoType) {
    inference::CodeObject object;
    object.how = !found->variable.empty() ? CodeHow::threadLocal
                 : found->around          ? CodeHow::around
                                          : CodeHow::propagated;
    object.variable = found->variable;
    object.type = found->type;
    object.origin = found->origin;
    site.operand = Candidate{sortOf(site, object, false, found->indexed), 0, found->offset};
    sorts_[site.operand->sort].element = found->element;
  }
  if (!site.operand) return;
  Candidate candidate = *site.operand;
  candidate.votes = 1;
  cell.vote(candidate);
}

/// Of the candidates with at least half of the most votes: one whose start is known, rather what the code has
/// than what may be around it, the largest, then the most voted for.
const ObjectEvidence::Candidate* ObjectEvidence::choose(const Evidence& cell) const {
  uint32_t most = 0;
  for (const Candidate& candidate : cell.candidates) most = std::max(most, candidate.votes);
  if (inference::isOff(inference::NamingRule::halfOfEvidence)) most = 0;
  const auto rank = [this](const Candidate& candidate) {
    const Hypothesis& sort = sorts_[candidate.sort];
    const bool within =
        !sort.indexed && (sort.array || sort.open || sort.size == 0 || candidate.offset < sort.size);
    const uint64_t size = sort.open ? std::max(sort.size, candidate.offset + 1) : sort.size;
    return std::tuple(within, sort.how != CodeHow::around, size, sort.layers, sort.array, candidate.votes,
                      ~candidate.offset, ~sort.name);
  };
  const Candidate* best = nullptr;
  for (const Candidate& candidate : cell.candidates)
    if (candidate.votes * 2 >= most && (best == nullptr || rank(candidate) > rank(*best))) best = &candidate;
  return best;
}

void ObjectEvidence::followSilent() {
  std::vector<uint32_t> silent;
  for (const auto& [key, cell] : cells_)
    if (cell.candidates.empty()) silent.push_back(key.site);
  follow(std::move(silent));
  for (auto it = cells_.begin(); it != cells_.end(); ++it)
    if (it->second.candidates.empty()) voteByCode(sites_[it->first.site], it.value());
}

void ObjectEvidence::gatherObjects() {
  for (const auto& [key, cell] : cells_) {
    const Candidate* chosen = choose(cell);
    if (chosen == nullptr || sorts_[chosen->sort].indexed || chosen->offset > key.offset) continue;
    const Hypothesis& sort = sorts_[chosen->sort];
    Object object;
    object.space = key.space;
    object.sort = chosen->sort;
    object.base = object.arrayBase = key.offset - chosen->offset;
    object.end = std::max(object.base + sort.size, key.offset + 1);
    object.votes = chosen->votes;
    object.first = cell.isTimed() ? cell.first : ~uint64_t{0};
    object.last = cell.isTimed() ? cell.last : 0;
    object.array = sort.array;
    objects_.push_back(object);
  }
  // The same object from several places becomes one.
  const auto identity = [this](const Object& object) {
    return std::tuple(object.space, object.base, sorts_[object.sort].name);
  };
  std::sort(objects_.begin(), objects_.end(), [&](const Object& a, const Object& b) {
    return std::tuple(identity(a), ~a.votes, a.sort) < std::tuple(identity(b), ~b.votes, b.sort);
  });
  size_t kept = 0;
  for (size_t i = 0; i < objects_.size(); ++i) {
    const Object object = objects_[i];
    if (kept == 0 || identity(objects_[kept - 1]) != identity(object)) {
      objects_[kept++] = object;
      continue;
    }
    Object& same = objects_[kept - 1];
    if (sorts_[same.sort].origin == 0 && sorts_[object.sort].origin != 0) same.sort = object.sort;
    same.end = std::max(same.end, object.end);
    same.votes += object.votes;
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
  for (Hypothesis& sort : sorts_) sort.name = numbers[sort.name];
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
        return std::tuple(a.space, a.base, sorts_[a.sort].name) < b;
      });
  return it != objects_.end() && std::tuple(it->space, it->base, sorts_[it->sort].name) == key ? &*it
                                                                                               : nullptr;
}

/// The objects that others agreed on and that hold the place, the largest first: of `own` as a member, or,
/// where the place's own code says nothing, with votes enough. They must have been there at the same time.
std::vector<const ObjectEvidence::Object*> ObjectEvidence::around(Position position, const Evidence& cell,
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
    const Hypothesis& sort = sorts_[object.sort];
    if (position.offset >= object.end || cell.first > object.last || object.first > cell.last) continue;
    if (own == nullptr) {
      if (inference::isOff(inference::NamingRule::silent)) break;
      // A function's own frame is where others had their variables before.
      if (sort.bytes ||
          (cell.ownStack && sort.how == CodeHow::stack && !inference::isOff(inference::NamingRule::ownStack)))
        continue;
      if (object.votes >= kSpeaksForOthers) found.push_back(&object);
      continue;
    }
    const Hypothesis& inner = sorts_[own->sort];
    if (own->offset > position.offset - object.base || (sort.size <= inner.size && !sort.open)) continue;
    uint64_t offset = position.offset - own->offset - object.base;
    if (!sort.open) offset %= sort.size;
    const types::TypeTable& table = typed_.table(sort.binary);
    const bool member =
        sort.binary == inner.binary
            ? types::contains(table, sort.type, offset, inner.type)
            : types::containsSame(table, sort.type, offset, typed_.table(inner.binary), inner.type);
    // `uintptr *` of a function for atomics: whatever member of that size is there. Not on stacks, where one
    // function's words follow another's.
    const bool isWord = !inference::isOff(inference::NamingRule::words) && object.votes >= kSpeaksForOthers &&
                        own->offset == 0 && !inner.array && inner.how != CodeHow::stack &&
                        sort.how != CodeHow::stack &&
                        typed_.table(inner.binary).kind(inner.type) == types::Kind::base &&
                        types::isField(table, sort.type, offset, static_cast<uint32_t>(inner.size));
    if ((member && !inference::isOff(inference::NamingRule::around)) || isWord) found.push_back(&object);
  }
  const auto reach = [&](const Object* object) {
    const Hypothesis& sort = sorts_[object->sort];
    return sort.open ? std::max(sort.size, position.offset + 1 - object->base) : sort.size;
  };
  const auto rank = [&](const Object* object) {
    const Hypothesis& sort = sorts_[object->sort];
    return std::tuple(~reach(object), ~sort.layers, sort.name);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Object* a, const Object* b) { return rank(a) < rank(b); });
  return found;
}

std::string ObjectEvidence::because(const Hypothesis& sort) const {
  const std::string in = sort.function.empty() ? "" : " in " + sort.function;
  if (sort.how == CodeHow::stack) return "local variable `" + sort.variable + "`" + in;
  if (sort.how == CodeHow::pointer)
    return (sort.ofPointer ? "pointer `" : "what variable `") + sort.variable +
           (sort.ofPointer ? "`" : "` leads to") + in;
  if (sort.how == CodeHow::threadLocal) return "thread-local variable `" + sort.variable + "`";
  if (sort.how == CodeHow::around)
    return "the code has a pointer to a member, and no other type has what lies there around a single such "
           "member";
  return kFollowed + in;
}

AgreedObject ObjectEvidence::at(Position position, std::span<const uint32_t> sites) {
  Evidence cell;
  bool followed = false;
  for (const uint32_t site : sites) {
    const auto it = cells_.find(Key{position.offset, position.space, site});
    if (it == cells_.end()) continue;
    const Evidence& one = it->second;
    cell.first = cell.seen == 0 ? one.first : std::min(cell.first, one.first);
    cell.last = std::max(cell.last, one.last);
    cell.seen += one.seen;
    cell.ownStack |= one.ownStack;
    followed |= sites_[site].tracked || !one.candidates.empty();
    for (const Candidate& candidate : one.candidates) cell.vote(candidate);
  }
  AgreedObject agreed;
  if (sites.empty())
    cell.last = ~uint64_t{0};
  else if (cell.seen == 0)
    return agreed;
  const Candidate* own = choose(cell);
  const bool indexed = own != nullptr && sorts_[own->sort].indexed;
  if (own != nullptr && !indexed) {
    // What else was seen of the same object tells for how long it was there.
    const Object* whole = objectAt(position.space, position.offset - own->offset, sorts_[own->sort].name);
    if (whole != nullptr) {
      cell.first = std::min(cell.first, whole->first);
      cell.last = std::max(cell.last, whole->last);
    }
  }
  const bool silent = own == nullptr || sorts_[own->sort].bytes;
  std::vector<const Object*> enclosingTypes = around(position, cell, silent || indexed ? nullptr : own);
  // What others take an element for is a part of it.
  if (indexed)
    std::erase_if(enclosingTypes, [&](const Object* one) {
      return !sorts_[one->sort].open && sorts_[one->sort].size <= sorts_[own->sort].element;
    });
  const std::vector<LifetimeShare> turns = lifetimesOf(enclosingTypes, position, sites);
  const Object* object = turns.empty() ? nullptr : turns.front().object;
  if (own == nullptr && object == nullptr) {
    placeInArray(agreed, position, cell, nullptr);
    if (agreed.place) return agreed;
    for (const uint32_t index : sites)
      if (const Location& site = sites_[index]; site.undefined != types::kNoType)
        agreed.undefined = typed_.table(site.binary).nameOf(site.undefined);
    if (!agreed.undefined.empty())
      agreed.because = "a variable that is live at the access points to " + agreed.undefined +
                       ", which the debug information does not define";
    for (const uint32_t index : sites)
      if (agreed.because.empty()) agreed.because = sites_[index].doubt;
    if (agreed.because.empty() && !followed && !sites.empty())
      agreed.because = "the code there was not followed: only the first " + std::to_string(kMostFollowed) +
                       " instructions of a report are";
    return agreed;
  }
  const bool outer = object != nullptr;
  const Hypothesis& sort = sorts_[outer ? object->sort : own->sort];
  agreed.how = sort.how == CodeHow::stack ? How::stack : How::code;
  agreed.because = because(sort);
  if (outer) agreed.because += silent ? ", of other accesses to the object" : "; this is a member of it";
  agreed.place.binary = sort.binary;
  agreed.place.type = sort.type;
  agreed.name = sort.name;
  agreed.place.based = !sort.indexed;
  agreed.place.array = sort.array;
  agreed.place.element = sort.element;
  agreed.place.offset = outer ? position.offset - object->base : own->offset;
  if (!outer && !indexed) object = objectAt(position.space, position.offset - own->offset, sort.name);
  if (object != nullptr) {
    agreed.arrayBase = object->arrayBase;
    agreed.place.array |= object->array;
    agreed.origin = sorts_[object->sort].origin;
  }
  if (sort.enclosing != types::kNoType && !agreed.place.array && agreed.place.offset < sort.size) {
    agreed.enclosing.binary = sort.binary;
    agreed.enclosing.type = sort.enclosing;
    agreed.enclosing.offset = sort.enclosingOffset + agreed.place.offset;
    agreed.enclosing.element = sort.size;
  }
  for (size_t i = 1; i < turns.size(); ++i) {
    const Object& other = *turns[i].object;
    const Hypothesis& its = sorts_[other.sort];
    AgreedObject::Other& there = agreed.others.emplace_back();
    there.place.binary = its.binary;
    there.place.type = its.type;
    there.place.offset = position.offset - other.base;
    there.place.based = true;
    there.place.array = other.array;
    there.arrayBase = other.arrayBase;
    there.first = other.first;
    there.last = other.last;
    there.share = turns[i].share;
  }
  placeInArray(agreed, position, cell, &sort);
  return agreed;
}

uint32_t ObjectEvidence::kindAt(Position position, uint32_t site) {
  constexpr uint32_t kNoVote = 0, kSilent = 1, kFirstKind = 2;
  const auto it = cells_.find(Key{position.offset, position.space, site});
  if (it == cells_.end()) return kNoVote;
  const Evidence& cell = it->second;
  if (cell.isTimed() || cell.answered || cell.candidates.size() > 1) return kNone;
  if (cell.candidates.empty()) return kSilent;
  const Candidate& vote = cell.candidates.front();
  Hypothesis& sort = sorts_[vote.sort];
  if (sort.kind == kNone || sort.kindOffset != vote.offset) {
    const uint32_t flags = (sort.array ? 1 : 0) | (sort.indexed ? 2 : 0) | (sort.bytes ? 4 : 0);
    const auto next = kFirstKind + static_cast<uint32_t>(kinds_.size());
    sort.kind =
        kinds_
            .try_emplace({sort.how, sort.binary, sort.type, flags, sort.element, sort.origin, vote.offset},
                         next)
            .first->second;
    sort.kindOffset = vote.offset;
  }
  return sort.kind;
}

}  // namespace cacheline::analysis
