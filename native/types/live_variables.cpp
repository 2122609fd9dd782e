// A sample's registers against what its site knows: mostly an addition and a comparison a variable.
#include "types/live_variables.h"

#include <dwarf.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/hash.h"
#include "symbols/dwarf_index.h"
#include "types/frame_base.h"
#include "types/live_variables_scope.h"
#include "types/live_variables_site.h"
#include "types/type_tracker.h"
#include "types/type_tracker_pointers.h"

namespace cacheline::types {
namespace {

constexpr uint64_t kLongestArray = 1ull << 32;  // bytes from a pointer to an element that it may count to

struct SiteKey {
  uint64_t access = 0, ip = 0;
  bool operator==(const SiteKey&) const = default;
  uint64_t hash() const { return mix(access, ip); }
};

/// The same type, though two units may each describe it.
bool isSame(const TypeTable& table, TypeId a, TypeId b) {
  if (a == b) return true;
  if (a == kNoType || b == kNoType) return false;
  return !table[a].name.empty() && table[a].name == table[b].name && table.sizeOf(a) == table.sizeOf(b);
}

struct Found {
  CodeObject object;
  uint64_t size = 0;  ///< of one object, bytes
};

/// Outermost first: the variables that are the object, then larger objects, arrays, callers' variables.
bool isOuter(const Found& a, const Found& b) {
  const bool aStack = a.object.how == CodeObject::How::stack, bStack = b.object.how == CodeObject::How::stack;
  if (aStack != bStack) return aStack;
  if (a.size != b.size) return a.size > b.size;
  if (a.object.array != b.object.array) return a.object.array;
  return a.object.depth > b.object.depth;
}

}  // namespace

struct LiveVariables::Impl {
  struct Function {
    FunctionScopes scopes;
    std::unique_ptr<TypeTracker> tracker;
  };
  struct KnownSite {
    const FunctionScopes* function = nullptr;
    Site site;
  };
  /// One question, and the objects found so far.
  struct Question {
    const KnownSite& known;
    uint64_t slide;
    const Registers& registers;
    uint64_t address, width;
    std::vector<Found> found;
  };

  symbols::Module& module;
  BinaryTypes& types;
  std::optional<CallFrames> frames;
  std::map<uint64_t, std::pair<uint64_t, Function*>> functions;  // by low: high
  std::vector<std::unique_ptr<Function>> owned;
  HashMap<SiteKey, std::unique_ptr<KnownSite>> sites;

  Function* functionAt(uint64_t address);
  const KnownSite& siteAt(uint64_t access, uint64_t ip);
  void takeVariable(Question& question, uint32_t variable, uint32_t depth, bool isObject, TypeId type,
                    uint64_t size, uint64_t start);
  void takeGeneral(Question& question, const GeneralCandidate& candidate);
  void takeTracked(Question& question);
};

LiveVariables::LiveVariables(symbols::Module& module, BinaryTypes& types)
    : impl_(new Impl{module, types, {}, {}, {}, {}}) {}
LiveVariables::~LiveVariables() = default;

LiveVariables::Impl::Function* LiveVariables::Impl::functionAt(uint64_t address) {
  const auto after = functions.upper_bound(address);
  if (after != functions.begin()) {
    const auto& [high, function] = std::prev(after)->second;
    if (address < high) return function;
  }
  if (module.dwarf() == nullptr || module.image() == nullptr) return nullptr;
  if (!frames) frames.emplace(module);
  auto function = std::make_unique<Function>();
  function->scopes = readFunction(*module.dwarf(), types.table(), address);
  const bool covers = std::any_of(function->scopes.ranges.begin(), function->scopes.ranges.end(),
                                  [&](const CodeRange& range) { return range.contains(address); });
  // A function that lies about its ranges is not kept: each question would add it again.
  if (!covers) {
    functions[address] = {address + 1, nullptr};
    return nullptr;
  }
  for (const CodeRange& range : function->scopes.ranges) functions[range.low] = {range.high, function.get()};
  owned.push_back(std::move(function));
  return owned.back().get();
}

const LiveVariables::Impl::KnownSite& LiveVariables::Impl::siteAt(uint64_t access, uint64_t ip) {
  const auto [entry, isNew] = sites.try_emplace({access, ip});
  if (!isNew) return *entry->second;
  auto made = std::make_unique<KnownSite>();
  if (Function* function = functionAt(access)) {
    made->function = &function->scopes;
    made->site = makeSite(*module.image(), types.table(), *frames, function->scopes, access, ip);
    if (!function->tracker)
      function->tracker = std::make_unique<TypeTracker>(module, types, *frames, function->scopes);
    made->site.tracked = function->tracker->operandAt(access);
  }
  entry.value() = std::move(made);
  return *entry->second;
}

/// The object of `size` bytes at `start`, where it is the accessed one or the first of an array of them.
void LiveVariables::Impl::takeVariable(Question& question, uint32_t variable, uint32_t depth, bool isObject,
                                       TypeId type, uint64_t size, uint64_t start) {
  const uint64_t ahead = question.address - start;
  const Site& site = question.known.site;
  bool array = false;
  if (ahead >= size || size - ahead < question.width) {
    // Elements further on: only where the code was seen to count elements of that type.
    if (isObject || ahead >= kLongestArray || !site.tracked || !site.tracked->indexed ||
        !isSame(types.table(), site.tracked->type, type))
      return;
    if (size == 0 || ahead % size != site.tracked->offset % size) return;
    array = true;
  } else if (!isObject && site.tracked && site.tracked->indexed && site.tracked->offset == ahead &&
             isSame(types.table(), site.tracked->type, type)) {
    array = true;  // its first element
  }
  const LocalVariable& local = question.known.function->variables[variable];
  Found found;
  found.size = size;
  found.object = {isObject ? CodeObject::How::stack : CodeObject::How::pointer, type,  start, local.name,
                  question.known.function->scopes[local.scope].function,        depth, array};
  question.found.push_back(std::move(found));
}

void LiveVariables::Impl::takeGeneral(Question& question, const GeneralCandidate& candidate) {
  const Site& site = question.known.site;
  const TypeTable& table = types.table();
  const Registers atAccess = candidate.atAccess ? site.back.apply(question.registers) : Registers{};
  LocationContext context;
  context.registers = candidate.atAccess ? &atAccess : &question.registers;
  context.frameBase = candidate.atAccess ? &site.frameBaseAtAccess : &site.frameBaseAtIp;
  context.cfa = candidate.atAccess ? site.cfaAtAccess : site.cfaAtIp;
  context.slide = question.slide;
  Places places;
  evaluate(*candidate.expression, context, places);
  const LocalVariable& variable = question.known.function->variables[candidate.variable];
  std::optional<uint64_t> count;
  for (const Place& place : places.all())
    if (place.kind == Place::Kind::value && countOffset(table, variable.type) == place.offset)
      count = place.number;
  for (const Place& place : places.all()) {
    if (place.kind == Place::Kind::memory && place.offset == 0 && place.size == 0) {
      const bool onStack = candidate.expression->operations[0].code == DW_OP_fbreg;
      takeVariable(question, candidate.variable, candidate.depth, onStack, table.strip(variable.type),
                   table.sizeOf(variable.type).value_or(0), place.number);
    } else if (place.kind == Place::Kind::value) {
      const TypeId pointee = pointeeAt(table, variable.type, place.offset);
      const uint64_t size = table.sizeOf(pointee).value_or(0);
      if (pointee == kNoType || size == 0) continue;
      const size_t before = question.found.size();
      takeVariable(question, candidate.variable, candidate.depth, false, pointee, size, place.number);
      // A pointer with a count says itself how far its array reaches.
      const uint64_t ahead = question.address - place.number;
      if (place.offset == 0 && count && *count <= kLongestArray / size && ahead < *count * size) {
        if (question.found.size() == before)
          takeVariable(question, candidate.variable, candidate.depth, false, pointee, *count * size,
                       place.number);
        if (question.found.size() > before) question.found.back().object.array = true;
      }
    }
  }
}

/// The object by the followed type of the operand's registers.
void LiveVariables::Impl::takeTracked(Question& question) {
  const Site& site = question.known.site;
  if (!site.tracked || site.tracked->base.kind != Held::Kind::pointer) return;
  const TypeTracker::Operand& tracked = *site.tracked;
  Found found;
  found.size = types.table().sizeOf(tracked.type).value_or(0);
  found.object = {CodeObject::How::tracked, tracked.type, question.address - tracked.offset, {}, {}, 0,
                  tracked.indexed};
  const decode::MemoryOperand& operand = site.operand;
  if (tracked.indexed && operand.index != kRegNone && operand.base != kRegNone) {
    // The base register may hold where the array starts, and the index count from there.
    const Registers before = site.back.apply(question.registers);
    const auto start =
        static_cast<uint64_t>(operand.displacement) - static_cast<uint64_t>(tracked.base.offset);
    if (before.has(operand.base)) {
      const uint64_t first = before.value[operand.base] + start;
      const uint64_t ahead = question.address - first;
      if (found.size != 0 && ahead < kLongestArray) {
        found.object.base = first;
        found.object.array = ahead >= found.size;  // else the index may count inside of the object
      }
    }
  }
  for (const Found& other : question.found)
    if (isSame(types.table(), other.object.type, tracked.type) &&
        (other.object.base == found.object.base || other.object.array))
      return;  // a variable says the same, and has a name
  question.found.push_back(std::move(found));
}

std::vector<CodeObject> LiveVariables::objectsAt(uint64_t access, uint64_t ip, uint64_t slide,
                                                 const Registers& registers, uint64_t address,
                                                 uint32_t width) {
  const Impl::KnownSite& known = impl_->siteAt(access, ip);
  if (known.function == nullptr) return {};
  Impl::Question question{known, slide, registers, address, std::max(width, 1u), {}};
  for (const Candidate& candidate : known.site.candidates) {
    uint64_t start = candidate.offset + (candidate.addSlide ? slide : 0);
    if (candidate.reg != kRegNone) {
      if (!registers.has(candidate.reg)) continue;
      start += registers.value[candidate.reg];
    }
    impl_->takeVariable(question, candidate.variable, candidate.depth, candidate.isObject, candidate.type,
                        candidate.size, start);
  }
  for (const GeneralCandidate& candidate : known.site.general) impl_->takeGeneral(question, candidate);
  impl_->takeTracked(question);
  std::stable_sort(question.found.begin(), question.found.end(), isOuter);
  std::vector<CodeObject> objects;
  objects.reserve(question.found.size());
  for (Found& found : question.found) objects.push_back(std::move(found.object));
  return objects;
}

std::optional<LiveVariables::TypedOperand> LiveVariables::operandType(uint64_t access) {
  const auto& tracked = impl_->siteAt(access, access).site.tracked;
  if (!tracked) return std::nullopt;
  return TypedOperand{tracked->type, tracked->offset, tracked->indexed};
}

}  // namespace cacheline::types
