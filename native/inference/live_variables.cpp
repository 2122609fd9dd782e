// A sample's registers against what is known of a code location: mostly an addition and a comparison a
// variable.
#include "inference/live_variables.h"

#include <dwarf.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/hash.h"
#include "inference/found_objects.h"
#include "inference/frame_base.h"
#include "inference/function_scopes.h"
#include "inference/live_values.h"
#include "inference/naming_rules.h"
#include "inference/pointer_names.h"
#include "inference/type_propagation.h"
#include "symbols/dwarf_index.h"
#include "types/pointers.h"
#include "types/type_reader.h"

namespace cacheline::inference {

using types::kNoType;
using types::TypeId;
using types::TypeTable;

namespace {

constexpr uint64_t kLongestArray = 1ull << 32;  // bytes from a pointer to an element that it may count to

struct CodeLocationKey {
  uint64_t access = 0, ip = 0;
  bool operator==(const CodeLocationKey&) const = default;
  uint64_t hash() const { return mix(access, ip); }
};

/// The access counts its address from the register that the candidate is in.
bool isDirect(const LiveValues& values, const Candidate& candidate) {
  const auto isIn = [&](uint8_t reg) { return reg != kRegNone && values.back.at[reg].reg == candidate.reg; };
  if (candidate.reg == kRegNone) return false;
  return isIn(values.operand.base) || (values.operand.scale == 1 && isIn(values.operand.index));
}

}  // namespace

struct LiveVariables::Impl {
  struct Function {
    FunctionScopes scopes;
    std::unique_ptr<TypePropagation> propagation;  ///< made when it is asked
    bool covers(uint64_t address) const {
      return std::any_of(scopes.ranges.begin(), scopes.ranges.end(),
                         [&](const CodeRange& range) { return range.contains(address); });
    }
  };
  struct KnownLocation {
    const FunctionScopes* function = nullptr;
    LiveValues values;
  };
  /// One question, and the objects found so far.
  struct Question {
    const KnownLocation& known;
    uint64_t loadBias;
    const Registers& registers;
    uint64_t address, width;
    std::vector<FoundObject> found;
    std::optional<FoundObject> node = {};  ///< of a container, by an iterator to its links
  };

  symbols::Module& module;
  layouts::BinaryTypes& types;
  std::optional<CallFrames> frames;
  std::map<uint64_t, std::pair<uint64_t, Function*>> functions;  // by low: high
  std::vector<std::unique_ptr<Function>> owned;
  std::unique_ptr<Function> passing;  // of operandType() alone
  HashMap<CodeLocationKey, std::unique_ptr<KnownLocation>> locations;

  std::optional<Function*> knownAt(uint64_t address) const;
  std::unique_ptr<Function> readAt(uint64_t address);
  Function* functionAt(uint64_t address);
  TypePropagation& propagationOf(Function& function);
  const KnownLocation& locationAt(uint64_t access, uint64_t ip);
  bool isScalar(TypeId type) const;
  uint64_t shownOrigin(uint64_t origin, TypeId type, bool isElement) const;
  void takeVariable(Question& question, const Candidate& candidate, uint64_t start);
  bool takeNode(Question& question, const Candidate& candidate, uint64_t start);
  void takeGeneral(Question& question, const GeneralCandidate& candidate);
  void takePropagated(Question& question);
  std::optional<bool> covers(const Question& question, const Candidate& candidate, uint64_t start) const;
  void settle(const FunctionScopes& function, uint64_t access,
              std::optional<TypePropagation::Operand>& propagated, Doubt* doubt);
};

LiveVariables::LiveVariables(symbols::Module& module, layouts::BinaryTypes& types)
    : impl_(new Impl{module, types, {}, {}, {}, {}, {}}) {}
LiveVariables::~LiveVariables() = default;

/// Null: there is none.
std::optional<LiveVariables::Impl::Function*> LiveVariables::Impl::knownAt(uint64_t address) const {
  const auto after = functions.upper_bound(address);
  if (after == functions.begin()) return std::nullopt;
  const auto& [high, function] = std::prev(after)->second;
  return address < high ? std::optional(function) : std::nullopt;
}

std::unique_ptr<LiveVariables::Impl::Function> LiveVariables::Impl::readAt(uint64_t address) {
  if (module.dwarf() == nullptr || module.image() == nullptr) return nullptr;
  if (!frames) frames.emplace(module);
  auto function = std::make_unique<Function>();
  function->scopes = readFunction(*module.dwarf(), types.table(), address);
  if (function->covers(address)) return function;
  // A function that lies about its ranges is not kept: each question would add it again.
  functions[address] = {address + 1, nullptr};
  return nullptr;
}

LiveVariables::Impl::Function* LiveVariables::Impl::functionAt(uint64_t address) {
  if (const auto known = knownAt(address)) return *known;
  auto function = readAt(address);
  if (!function) return nullptr;
  for (const CodeRange& range : function->scopes.ranges) functions[range.low] = {range.high, function.get()};
  owned.push_back(std::move(function));
  return owned.back().get();
}

TypePropagation& LiveVariables::Impl::propagationOf(Function& function) {
  if (!function.propagation)
    function.propagation = std::make_unique<TypePropagation>(module, types, *frames, function.scopes);
  return *function.propagation;
}

const LiveVariables::Impl::KnownLocation& LiveVariables::Impl::locationAt(uint64_t access, uint64_t ip) {
  const auto [entry, isNew] = locations.try_emplace({access, ip});
  if (!isNew) return *entry->second;
  auto made = std::make_unique<KnownLocation>();
  if (Function* function = functionAt(access)) {
    made->function = &function->scopes;
    made->values = liveValuesAt(*module.image(), types.table(), *frames, function->scopes, access, ip);
    TypePropagation& propagation = propagationOf(*function);
    auto& propagated = made->values.propagated = propagation.operandAt(access, &made->values.doubt);
    if (propagated && propagated->indexed && !propagated->inside() && propagated->address.origin != 0)
      if (const auto load = propagation.loadOf(propagated->address.origin, access))
        made->values.array = loadedPointer(*module.image(), *load, ip);
    for (const TypePropagation::Pointer& pointer : propagation.pointersAt(access)) {
      const RegistersBack::From& from = made->values.back.at[pointer.reg];
      const uint64_t size = types.table().sizeOf(pointer.type).value_or(0);
      if (from.reg == kRegNone || size == 0) continue;
      Candidate found{0, 0, false, pointer.type, size, from.reg};
      found.offset = from.delta - static_cast<uint64_t>(pointer.offset);
      found.moves = pointer.moves;
      found.origin = pointer.origin;
      made->values.pointers.push_back(found);
      for (Candidate& variable : made->values.candidates)
        if (variable.reg == found.reg && variable.offset == found.offset) {
          variable.moves = found.moves;
          variable.origin = found.origin;
        }
    }
  }
  entry.value() = std::move(made);
  return *entry->second;
}

/// How the accessed bytes lie to the candidate's object at `start`. nullopt: elsewhere. True: in that of an
/// array of them (false: in the object, or in the flexible array at its end), as far as the code was seen to
/// count elements of that type from there.
std::optional<bool> LiveVariables::Impl::covers(const Question& question, const Candidate& candidate,
                                                uint64_t start) const {
  const uint64_t ahead = question.address - start, size = candidate.size;
  const auto& propagated = question.known.values.propagated;
  const uint64_t from = propagated ? propagated->address.origin : 0;
  const bool counts = !candidate.isObject && !candidate.moves && propagated && propagated->indexed &&
                      types::isSame(types.table(), propagated->type, candidate.type) &&
                      (from == 0 || candidate.origin == 0 || from == candidate.origin);
  // The array's first element, unless the code goes on from its start to another one.
  if (ahead < size && size - ahead >= question.width)
    return counts && !propagated->inside() && ahead == propagated->offset &&
           propagated->address.offset == static_cast<int64_t>(ahead);
  if (!counts || size == 0 || ahead >= kLongestArray) return std::nullopt;
  if (propagated->offset >= size)
    return ahead >= propagated->offset ? std::optional<bool>(false) : std::nullopt;
  const uint64_t step = propagated->inside() ? std::gcd(propagated->address.stride, size) : size;
  if ((ahead % size + size - propagated->offset) % step != 0) return std::nullopt;
  return true;
}

bool LiveVariables::Impl::isScalar(TypeId type) const {
  const types::Kind kind = types.table().kind(types.table().strip(type));
  return !types::isAggregate(kind) && kind != types::Kind::array && kind != types::Kind::function;
}

/// `isElement`: the code counts to it, or goes from one to the next.
uint64_t LiveVariables::Impl::shownOrigin(uint64_t origin, TypeId type, bool isElement) const {
  return isScalar(type) || (isElement && !isNumbered(origin)) ? origin : 0;
}

void LiveVariables::Impl::takeVariable(Question& question, const Candidate& candidate, uint64_t start) {
  if (takeNode(question, candidate, start)) return;
  const auto array = covers(question, candidate, start);
  if (!array) return;
  const auto how = candidate.isObject ? CodeObject::How::stack : CodeObject::How::pointer;
  question.found.push_back(
      {how, *array, candidate.type, candidate.variable, candidate.depth, start, candidate.size});
  question.found.back().direct = isDirect(question.known.values, candidate);
  question.found.back().origin = shownOrigin(candidate.origin, candidate.type, *array || candidate.moves);
}

bool LiveVariables::Impl::takeNode(Question& question, const Candidate& candidate, uint64_t start) {
  constexpr uint64_t kLargestNode = 1 << 16;
  const uint64_t ahead = question.address - start;
  if (candidate.isObject || ahead < candidate.size || ahead >= kLargestNode || isOff(NamingRule::nodes))
    return false;
  const TypeId node =
      types::nodeOf(types.table(), question.known.function->variables[candidate.variable].type);
  const uint64_t size = types.table().sizeOf(node).value_or(0);
  if (ahead >= size || size - ahead < question.width) return false;
  question.node =
      FoundObject{CodeObject::How::pointer, false, node, candidate.variable, candidate.depth, start, size};
  return true;
}

void LiveVariables::Impl::takeGeneral(Question& question, const GeneralCandidate& candidate) {
  const LiveValues& values = question.known.values;
  const TypeTable& table = types.table();
  const Registers atAccess = candidate.atAccess ? values.back.apply(question.registers) : Registers{};
  LocationContext context;
  context.registers = candidate.atAccess ? &atAccess : &question.registers;
  context.frameBase = candidate.atAccess ? &values.frameBaseAtAccess : &values.frameBaseAtIp;
  context.cfa = candidate.atAccess ? values.cfaAtAccess : values.cfaAtIp;
  context.loadBias = question.loadBias;
  Places places;
  evaluate(*candidate.expression, context, places);
  const ScopedVariable& variable = question.known.function->variables[candidate.variable];
  for (const Place& place : places.all()) {
    if (place.kind == Place::Kind::memory && place.offset == 0 && place.size == 0) {
      const bool onStack = candidate.expression->operations[0].code == DW_OP_fbreg;
      takeVariable(question,
                   {candidate.variable, candidate.depth, onStack, table.strip(variable.type),
                    table.sizeOf(variable.type).value_or(0)},
                   place.number);
    } else if (place.kind == Place::Kind::value) {
      const TypeId pointee = types::pointeeAt(table, variable.type, place.offset);
      const uint64_t size = table.sizeOf(pointee).value_or(0);
      if (pointee == kNoType || size == 0) continue;
      Candidate pointer{candidate.variable, candidate.depth, false, pointee, size};
      // Computed from several registers: an index is among them.
      pointer.moves = place.size == 0;
      takeVariable(question, pointer, place.number);
    }
  }
}

/// The object by the followed types of the registers: those that hold its address, else the operand's.
void LiveVariables::Impl::takePropagated(Question& question) {
  const LiveValues& values = question.known.values;
  bool direct = false;
  uint64_t origin = 0;
  const auto take = [&](TypeId type, uint64_t size, uint64_t start, bool array,
                        CodeObject::How how = CodeObject::How::propagated) {
    for (FoundObject& other : question.found)
      if ((other.base == start || other.array) && types::isSame(types.table(), other.type, type)) {
        other.direct |= direct;
        if (other.base == start && other.origin == 0) other.origin = origin;
        return;  // a variable says the same, and has a name
      }
    question.found.push_back({how, array, type, FoundObject::kNoVariable, 0, start, size});
    question.found.back().direct = direct;
    question.found.back().origin = origin;
  };
  for (const Candidate& pointer : values.pointers) {
    if (!question.registers.has(pointer.reg)) continue;
    const uint64_t start = question.registers.value[pointer.reg] + pointer.offset;
    direct = isDirect(values, pointer);
    const auto array = covers(question, pointer, start);
    if (!array) continue;
    origin = shownOrigin(pointer.origin, pointer.type, *array || pointer.moves);
    take(pointer.type, pointer.size, start, *array);
  }
  direct = true;
  origin = 0;
  if (!values.propagated) return;
  const TypePropagation::Operand& propagated = *values.propagated;
  if (!propagated.variable.empty() && !propagated.indexed)
    question.found.push_back({CodeObject::How::threadLocal, false, propagated.type, FoundObject::kNoVariable,
                              0, question.address - propagated.offset,
                              types.table().sizeOf(propagated.type).value_or(0)});
  if (propagated.address.kind != AbstractValue::Kind::pointer) return;
  // Where the index counts inside of the object, only a pointer to its start tells where that is.
  if (propagated.inside()) {
    const bool isObject = propagated.array.element != kNoType &&
                          !types.table()[propagated.array.element].members.empty() &&
                          !types.table()[propagated.array.element].name.empty();
    const uint64_t start = question.address - propagated.array.elementOffset;
    if (question.found.empty() && isObject)
      take(propagated.array.element, types.table().sizeOf(propagated.array.element).value_or(0), start, true);
    const bool inStructure =
        !propagated.around && types::isAggregate(types.table().kind(types.table().strip(propagated.type)));
    for (FoundObject& found : question.found)
      found.element = inStructure && !isOff(NamingRule::enclosingOfElement) &&
                      found.how != CodeObject::How::stack && found.base == start &&
                      types::isSame(types.table(), found.type, propagated.array.element);
    return;
  }
  origin = shownOrigin(propagated.address.origin, propagated.type, propagated.indexed);
  if (const auto start = values.array.value(question.registers, question.loadBias)) {
    const uint64_t ahead = question.address - *start;
    const uint64_t size = types.table().sizeOf(propagated.type).value_or(0);
    if (size != 0 && ahead < kLongestArray && ahead % size == propagated.offset % size)
      take(propagated.type, size, *start, true);
  }
  take(propagated.type, types.table().sizeOf(propagated.type).value_or(0),
       question.address - propagated.offset, propagated.indexed,
       propagated.around ? CodeObject::How::around : CodeObject::How::propagated);
}

std::vector<CodeObject> LiveVariables::objectsAt(uint64_t access, uint64_t ip, uint64_t loadBias,
                                                 const Registers& registers, uint64_t address, uint32_t width,
                                                 Doubt* doubt) {
  const Impl::KnownLocation& known = impl_->locationAt(access, ip);
  if (known.function == nullptr) return {};
  Impl::Question question{known, loadBias, registers, address, std::max(width, 1u), {}};
  question.found.reserve(8);
  for (const Candidate& candidate : known.values.candidates) {
    uint64_t start = candidate.offset + (candidate.addLoadBias ? loadBias : 0);
    if (candidate.reg != kRegNone) {
      if (!registers.has(candidate.reg)) continue;
      start += registers.value[candidate.reg];
    }
    impl_->takeVariable(question, candidate, start);
  }
  for (const GeneralCandidate& candidate : known.values.general) impl_->takeGeneral(question, candidate);
  impl_->takePropagated(question);
  const TypeTable& table = impl_->types.table();
  if (!isOff(NamingRule::strangers)) dropStrangers(table, question.found, address);
  std::vector<TypeId> casts;
  if (!isOff(NamingRule::casts)) casts = settleCasts(table, question.found, address, width);
  // The element itself is what people speak of, where code has that in its hands.
  if (question.node && std::all_of(question.found.begin(), question.found.end(), [&](const FoundObject& one) {
        return isPartOf(table, *question.node, one, address);
      }))
    question.found.push_back(*question.node);
  const auto& propagated = known.values.propagated;
  // Few: inserted one by one, with equals in their order, and without the memory that a sort would take.
  auto& found = question.found;
  const auto outer = [&](const FoundObject& a, const FoundObject& b) { return isOuter(table, a, b); };
  for (auto at = found.begin(); at != found.end(); ++at)
    std::rotate(std::upper_bound(found.begin(), at, *at, outer), at, at + 1);
  if (doubt != nullptr && found.empty()) {
    *doubt = known.values.doubt;
    if (!casts.empty()) doubt->casts = std::move(casts);
  }
  std::vector<CodeObject> objects(found.size());
  for (size_t i = 0; i < found.size(); i++) {
    objects[i].how = found[i].how;
    objects[i].type = found[i].type;
    objects[i].base = found[i].base;
    objects[i].depth = found[i].depth;
    objects[i].array = found[i].array;
    objects[i].origin = found[i].origin;
    if (found[i].origin != 0)
      objects[i].pointer = impl_->propagationOf(*impl_->functionAt(access)).pointerName(found[i].origin);
    if (found[i].element) {
      objects[i].enclosing = propagated->type;
      objects[i].enclosingOffset = propagated->offset - propagated->array.elementOffset;
    }
    if (found[i].how == CodeObject::How::threadLocal) objects[i].variable = known.values.propagated->variable;
    if (!found[i].isNamed()) continue;
    const ScopedVariable& variable = known.function->variables[found[i].variable];
    objects[i].variable = nameOf(variable);
    objects[i].ofPointer = impl_->types.table().pointee(variable.type) != kNoType;
    objects[i].function = impl_->module.dwarf()->names().of(known.function->scopes[variable.scope].function);
    if (objects[i].how != CodeObject::How::pointer || objects[i].origin != 0 ||
        !impl_->isScalar(found[i].type))
      continue;
    objects[i].pointer = localName(objects[i].function, objects[i].variable);
    objects[i].origin = numberOfPointer(objects[i].pointer, true);
  }
  return objects;
}

/// Without registers: what the variables in the register take it for, where `propagated` is one of several
/// such.
void LiveVariables::Impl::settle(const FunctionScopes& function, uint64_t access,
                                 std::optional<TypePropagation::Operand>& propagated, Doubt* doubt) {
  const TypeTable& table = types.table();
  if (propagated->indexed || propagated->address.kind != AbstractValue::Kind::pointer) return;
  const LiveValues values = liveValuesAt(*module.image(), table, *frames, function, access, access);
  const decode::MemoryOperand& operand = values.operand;
  constexpr uint64_t kAnywhere = uint64_t{1} << 40;  // what the register holds
  const uint64_t address = kAnywhere + static_cast<uint64_t>(operand.displacement);
  std::vector<FoundObject> found;
  for (const Candidate& candidate : values.candidates) {
    if (candidate.isObject || candidate.reg == kRegNone || candidate.reg != operand.base) continue;
    const uint64_t start = kAnywhere + candidate.offset, ahead = address - start;
    if (ahead >= candidate.size || candidate.size - ahead < operand.width) continue;
    found.push_back({CodeObject::How::pointer, false, candidate.type, candidate.variable, candidate.depth,
                     start, candidate.size, false, true});
  }
  const auto isPropagated = [&](const FoundObject& one) {
    return one.base == address - propagated->offset && types::isSame(table, one.type, propagated->type);
  };
  if (std::none_of(found.begin(), found.end(), isPropagated)) return;
  std::vector<TypeId> casts = settleCasts(table, found, address, operand.width);
  if (std::any_of(found.begin(), found.end(), isPropagated)) return;
  if (found.empty()) {
    propagated.reset();
    if (doubt != nullptr) doubt->casts = std::move(casts);
    return;
  }
  const FoundObject& outer =
      *std::min_element(found.begin(), found.end(),
                        [&](const FoundObject& a, const FoundObject& b) { return isOuter(table, a, b); });
  propagated->type = outer.type;
  propagated->offset = address - outer.base;
}

TypeId LiveVariables::undefinedAt(uint64_t access, uint64_t ip) {
  return impl_->locationAt(access, ip).values.undefined;
}

TypePropagation::Allocated LiveVariables::allocatedBy(uint64_t after, uint64_t bytes) {
  Impl::Function* function = impl_->functionAt(after - 1);
  return function != nullptr ? impl_->propagationOf(*function).allocatedBy(after, bytes)
                             : TypePropagation::Allocated{};
}

std::optional<LiveVariables::TypedOperand> LiveVariables::operandType(uint64_t access, Doubt* doubt) {
  const auto known = impl_->knownAt(access);
  if (!known && (!impl_->passing || !impl_->passing->covers(access))) impl_->passing = impl_->readAt(access);
  Impl::Function* function = known ? *known : impl_->passing.get();
  if (function == nullptr) return std::nullopt;
  auto propagated = impl_->propagationOf(*function).operandAt(access, doubt);
  if (propagated && propagated->contested) impl_->settle(function->scopes, access, propagated, doubt);
  if (!propagated) return std::nullopt;
  const uint64_t element =
      propagated->inside() ? impl_->types.table().sizeOf(propagated->array.element).value_or(0) : 0;
  const uint64_t origin =
      element == 0 ? impl_->shownOrigin(propagated->address.origin, propagated->type, propagated->indexed)
                   : 0;
  return TypedOperand{propagated->type,
                      propagated->offset,
                      propagated->indexed,
                      element,
                      propagated->variable,
                      propagated->around,
                      origin,
                      impl_->propagationOf(*function).pointerName(origin)};
}

}  // namespace cacheline::inference
