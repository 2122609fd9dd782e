// Reads the facts once; type propagation asks for them at each instruction.
#include "inference/propagation_facts.h"

#include <dwarf.h>

#include <algorithm>

#include "inference/naming_rules.h"
#include "inference/pointer_names.h"
#include "symbols/die.h"
#include "symbols/dwarf_index.h"
#include "types/field_path.h"
#include "types/pointers.h"
#include "types/type_reader.h"

namespace cacheline::inference {

using types::kNoType;
using types::TypeId;

namespace {

constexpr size_t kMostGuesses = 4;  // each costs another fixed point

/// Integers of any language; floating point numbers are passed elsewhere.
bool isInteger(const std::string& name) {
  return name.find("float") == std::string::npos && name.find("double") == std::string::npos &&
         name != "f32" && name != "f64";
}

/// "lanes[3].sums" to "lanes[].sums".
std::string withoutNumbers(const std::string& path) {
  std::string text;
  for (const char character : path)
    if (text.empty() || text.back() != '[' || character == ']') text += character;
  return text;
}

/// What the source calls a thread-local variable: Rust's thread_local!() puts it into functions of its own.
std::string writtenName(std::string name) {
  static constexpr std::string_view kInner = "::__RUST_STD_INTERNAL_VAL";
  if (!name.ends_with(kInner)) return name;
  name.resize(name.size() - kInner.size());
  while (name.ends_with('}')) name.resize(std::min(name.rfind("::"), name.size() - 1));
  return name;
}

}  // namespace

PropagationFacts::PropagationFacts(symbols::Module& module, layouts::BinaryTypes& types, CallFrames& frames,
                                   const FunctionScopes& function)
    : module_(module), types_(types), frames_(frames), function_(function) {
  const int language = function.die.cu != nullptr ? symbols::languageOf(function.die) : -1;
  countsOutOfMembers_ = language != DW_LANG_Rust && language != DW_LANG_Go;
  // clang keeps `void* argument` of a thread's function and loses `Worker* worker = argument`.
  const auto& lost = function.lost;
  if (!lost.empty() && !isOff(NamingRule::guesses) &&
      std::all_of(lost.begin(), lost.end(), [&](TypeId type) { return type == lost[0]; }) &&
      types.table().sizeOf(lost[0]).value_or(0) != 0)
    guesses_.push_back(lost[0]);
  for (const ScopedVariable& variable : function.variables) {
    if (!isOff(NamingRule::guesses)) addGuess(variable);
    for (const LocationRange& range : variable.locations)
      if (!isOff(NamingRule::behindArguments)) addBehindArgument(variable, range);
  }
  addRegisters();
}

void PropagationFacts::addRegisters() {
  registers_.clear();
  bool guessed = false;
  for (const ScopedVariable& variable : function_.variables)
    for (const LocationRange& range : variable.locations) guessed |= addRegister(variable, range);
  if (!guessed) guesses_.clear();  // there is no void pointer: nothing that they would change
  std::stable_sort(registers_.begin(), registers_.end(),
                   [](const RegisterFact& a, const RegisterFact& b) { return a.low < b.low; });
}

/// Whether that takes a guess.
bool PropagationFacts::addRegister(const ScopedVariable& variable, const LocationRange& range) {
  const auto& operations = range.expression.operations;
  if (operations.empty()) return false;
  // A pointer, alone or as the first piece of what wraps it.
  const bool pieces =
      operations.size() > 1 && operations[1].code == DW_OP_piece && operations[1].first >= sizeof(uint64_t);
  Expression first;
  if (pieces) first.operations.push_back(operations[0]);
  const auto linear = linearForm(pieces ? first : range.expression, nullptr, nullptr);
  if (!linear || linear->reg == kRegNone || linear->reg == kRegSp) return false;
  RegisterFact fact{range.low, range.high, linear->reg, kNoType, -linear->offset, 0};
  // An object that lies in memory at the register: its address was passed in place of it.
  fact.pointee =
      linear->inMemory ? table().strip(variable.type) : types::pointeeAt(table(), variable.type, 0);
  const TypeId type = table().strip(variable.type);
  const bool guesses =
      fact.pointee == kNoType && table().kind(type) == types::Kind::pointer && variable.scope == 0;
  if (guesses) fact.pointee = guess();
  if (fact.pointee == kNoType) return guesses;
  const auto size = table().sizeOf(fact.pointee);
  if (!size || *size == 0) return guesses;
  fact.size = *size;
  if (linear->offset == 0) fact.origin = numberOf(variable);
  if (range.low != 0 || range.high != UINT64_MAX) {
    registers_.push_back(fact);
    return guesses;
  }
  // One place for the variable's whole life, which its scope bounds.
  uint32_t scope = variable.scope;
  while (function_.scopes[scope].ranges.empty() && function_.scopes[scope].parent != CodeScope::kNone)
    scope = function_.scopes[scope].parent;
  for (const CodeRange& code : function_.scopes[scope].ranges) {
    fact.low = code.low;
    fact.high = code.high;
    registers_.push_back(fact);
  }
  return guesses;
}

/// `const struct job job = *(struct job*)argument` leaves no variable that points to it.
void PropagationFacts::addGuess(const ScopedVariable& variable) {
  const TypeId type = table().strip(variable.type);
  if (table().kind(type) != types::Kind::structure || guesses_.size() >= kMostGuesses ||
      function_.scopes[variable.scope].inlines != 0)
    return;
  const bool split = std::any_of(variable.locations.begin(), variable.locations.end(), [](const auto& range) {
    const auto& operations = range.expression.operations;
    return std::any_of(operations.begin(), operations.end(),
                       [](const Operation& operation) { return operation.code == DW_OP_piece; });
  });
  if (split && std::find(guesses_.begin(), guesses_.end(), type) == guesses_.end()) guesses_.push_back(type);
}

/// "In memory at the entry value of rdi plus 8", which gcc says of a variable that was loaded from there.
void PropagationFacts::addBehindArgument(const ScopedVariable& variable, const LocationRange& range) {
  const auto& operations = range.expression.operations;
  if (operations.empty() || operations.size() > 2 || operations[0].inner >= range.expression.inner.size() ||
      (operations[0].code != DW_OP_entry_value && operations[0].code != DW_OP_GNU_entry_value) ||
      (operations.size() == 2 && operations[1].code != DW_OP_plus_uconst))
    return;
  const auto argument = linearForm(range.expression.inner[operations[0].inner], nullptr, nullptr);
  const TypeId pointee = types::pointeeAt(table(), variable.type, 0);
  if (!argument || argument->inMemory || argument->reg == kRegNone || pointee == kNoType) return;
  const uint64_t offset = operations.size() == 2 ? operations[1].first : 0;
  behindArguments_.try_emplace({argument->reg, static_cast<int64_t>(offset)},
                               Behind{pointee, numberOf(variable)});
}

PropagationFacts::Behind PropagationFacts::behindArgument(uint8_t reg, int64_t offset) const {
  const auto found = behindArguments_.find({reg, offset});
  return found != behindArguments_.end() ? found->second : Behind{};
}

uint64_t PropagationFacts::numberOf(std::string name, bool local) {
  const uint64_t number = numberOfPointer(name, local);
  pointers_.try_emplace(number, std::move(name));
  return number;
}

uint64_t PropagationFacts::numberOf(const ScopedVariable& variable) {
  const auto [known, isNew] = variables_.try_emplace(variable.die.addr, 0);
  if (!isNew) return known->second;
  const std::string name = nameOf(variable);
  if (!name.empty()) known->second = numberOf(localName(functionName(variable.scope), name), true);
  return known->second;
}

/// Of the innermost function that was inlined there, or the function.
const std::string& PropagationFacts::functionName(uint32_t scope) {
  const auto [known, isNew] = functionNames_.try_emplace(scope);
  if (isNew) known->second = module_.dwarf()->names().of(function_.scopes[scope].function);
  return known->second;
}

uint64_t PropagationFacts::memberPointer(TypeId type, uint64_t offset, uint64_t holder, bool indexed) {
  const std::optional<std::string> path = pointerPath(table(), type, offset);
  if (!path) return 0;
  if (path->empty() || path->front() == '[') {
    const std::string name = pointerName(holder);
    return name.empty() ? 0
                        : numberOf(name + (indexed || !path->empty() ? "[]" : ""), isLocalPointer(holder));
  }
  const std::string structure = table().nameOf(type);
  if (structure.empty()) return 0;
  return isMadeOfLocals(structure) ? numberOf(localName(functionName(0), *path), true)
                                   : numberOf(structure + '.' + withoutNumbers(*path), false);
}

std::string PropagationFacts::pointerName(uint64_t origin) {
  if (origin == 0) return {};
  if (isNumbered(origin)) return pointers_[origin];
  const auto variable = types_.variableAt(origin);
  if (!variable || variable->type == kNoType) return {};
  const auto path = pointerPath(table(), variable->type, origin - variable->address);
  if (!path) return {};
  return variable->name + (path->empty() || path->starts_with('[') ? "" : ".") + *path;
}

TypeId PropagationFacts::returned() {
  const TypeId type = table().typeOf(function_.die);
  return type != kNoType ? types::pointeeAt(table(), type, 0) : kNoType;
}

bool PropagationFacts::knowsBehind(uint8_t reg) const {
  const auto first = behindArguments_.lower_bound({reg, INT64_MIN});
  return first != behindArguments_.end() && first->first.first == reg;
}

void PropagationFacts::nextGuess() {
  guesses_.erase(guesses_.begin());
  addRegisters();
}

bool PropagationFacts::isContested(uint8_t reg, uint64_t address) {
  const auto holds = [this](TypeId outer, TypeId inner) { return types::contains(table(), outer, 0, inner); };
  std::vector<const RegisterFact*> there;
  for (const RegisterFact& fact : registers_) {
    if (fact.low > address) break;
    if (fact.reg != reg || address >= fact.high ||
        !types::isAggregate(table().kind(table().strip(fact.pointee))))
      continue;
    for (const RegisterFact* other : there)
      if (other->offset == fact.offset && !holds(other->pointee, fact.pointee) &&
          !holds(fact.pointee, other->pointee))
        return true;
    there.push_back(&fact);
  }
  return false;
}

const std::optional<Linear>& PropagationFacts::rule(uint64_t address) {
  const Expression* cfa = frames_.cfaAt(address);
  if (cfa == lastCfa_) return lastRule_;
  lastCfa_ = cfa;
  lastRule_ = cfa != nullptr ? linearForm(*cfa, nullptr, nullptr) : std::nullopt;
  if (lastRule_ && lastRule_->reg == kRegNone) lastRule_.reset();
  return lastRule_;
}

std::vector<PropagationFacts::Holding> PropagationFacts::holdingAt(
    const std::vector<uint64_t>& addresses) const {
  std::vector<Holding> all;
  all.reserve(addresses.size());
  Holding now;
  for (const uint64_t address : addresses) {
    for (; now.next < registers_.size() && registers_[now.next].low <= address; now.next++)
      now.facts.push_back(now.next);
    std::erase_if(now.facts, [&](uint32_t fact) { return registers_[fact].high <= address; });
    all.push_back(now);
  }
  return all;
}

std::optional<int64_t> PropagationFacts::frameOffset(uint8_t reg, uint64_t address) {
  const auto linear = rule(address);
  if (!linear || linear->reg != reg) return std::nullopt;
  return -linear->offset;
}

const std::vector<PropagationFacts::StackVariable>& PropagationFacts::frame(uint64_t address,
                                                                            const Linear& rule) {
  const auto [known, isNew] = frameVariables_.try_emplace({rule.reg, rule.offset});
  if (!isNew) return known->second;
  const Expression base = frameBaseOf(function_.die, address);
  const Expression* cfa = frames_.cfaAt(address);
  for (const ScopedVariable& variable : function_.variables) {
    const auto size = table().sizeOf(variable.type);
    if (!size || *size == 0) continue;
    for (const LocationRange& range : variable.locations) {
      const auto linear = linearForm(range.expression, &base, cfa);
      if (!linear || !linear->inMemory || linear->reg != rule.reg) continue;
      known->second.push_back({linear->offset - rule.offset, *size, range.low, range.high, variable.scope,
                               variable.type, numberOf(variable)});
    }
  }
  return known->second;
}

std::optional<TypedPlace> PropagationFacts::stackVariable(int64_t offset, uint64_t address) {
  const auto linear = rule(address);
  if (!linear) return std::nullopt;
  for (const StackVariable& variable : frame(address, *linear)) {
    const auto inside = static_cast<uint64_t>(offset) - static_cast<uint64_t>(variable.offset);
    if (inside >= variable.size || address < variable.low || address >= variable.high ||
        !function_.inScope(variable.scope, address))
      continue;
    return TypedPlace{variable.type, inside, {}, variable.origin};
  }
  return std::nullopt;
}

std::optional<TypedPlace> PropagationFacts::global(uint64_t address) {
  const auto variable = types_.variableAt(address);
  if (!variable || variable->type == kNoType) return std::nullopt;
  return TypedPlace{variable->type, address - variable->address, {}};
}

std::optional<TypedPlace> PropagationFacts::threadLocal(const AbstractValue& address) {
  auto offset = static_cast<uint64_t>(address.offset);
  if (address.kind == AbstractValue::Kind::threadPointer) {
    const auto behind = module_.image()->threadLocals().threadPointer();
    if (!behind) return std::nullopt;
    offset += *behind;
  }
  const auto variable = types_.threadLocalAt(offset);
  if (!variable || variable->type == kNoType) return std::nullopt;
  return TypedPlace{variable->type, offset - variable->address, writtenName(variable->name)};
}

AbstractValue PropagationFacts::byLoader(const AbstractValue& word,
                                         symbols::ThreadLocals::Entry::Kind kind) const {
  if (word.kind != AbstractValue::Kind::constant || word.stride != 0) return {};
  const auto* entry = module_.image()->threadLocals().entryAt(static_cast<uint64_t>(word.offset));
  if (entry == nullptr || entry->kind != kind) return {};
  const bool isAddress = kind == symbols::ThreadLocals::Entry::Kind::argument;
  return {isAddress ? AbstractValue::Kind::threadLocal : AbstractValue::Kind::threadDistance, 0, kNoType,
          static_cast<int64_t>(entry->offset)};
}

/// What C++ code calls for the address of a variable that may still have to be initialised (`_ZTW` and its
/// name).
AbstractValue PropagationFacts::byWrapper(uint64_t function) {
  const symbols::Symbol* symbol = function != 0 ? module_.image()->functionAt(function) : nullptr;
  if (symbol == nullptr || symbol->address != function || !symbol->name.starts_with("_ZTW")) return {};
  static constexpr std::string_view kReadable = "TLS wrapper function for ";
  const std::string name = symbols::demangle(symbol->name);
  const auto variable =
      name.starts_with(kReadable) ? types_.threadLocalNamed(name.substr(kReadable.size())) : std::nullopt;
  if (!variable) return {};
  return {AbstractValue::Kind::threadLocal, 0, kNoType, static_cast<int64_t>(variable->address)};
}

AbstractValue PropagationFacts::returnedBy(uint64_t after, uint64_t address,
                                           const AbstractValue& firstArgument) {
  if (const TypeId pointee = callee(after, address).returned; pointee != kNoType)
    return {AbstractValue::Kind::pointer, 0, pointee, 0};
  const AbstractValue found = byLoader(firstArgument, symbols::ThreadLocals::Entry::Kind::argument);
  return found.isOpen() ? byWrapper(address) : found;
}

/// The function whose code starts at `address`, out of line; without address where DWARF knows none.
Dwarf_Die PropagationFacts::functionAt(uint64_t address) {
  symbols::Unit* unit = module_.dwarf()->units().at(address);
  if (unit == nullptr) return {};
  auto id = unit->functions().find(address);
  if (!id) return {};
  while (unit->functions().node(*id).parent != symbols::FunctionNode::kNone)
    id = unit->functions().node(*id).parent;
  return unit->dieAt(unit->functions().node(*id).die);
}

const PropagationFacts::Callee& PropagationFacts::callee(uint64_t after, uint64_t address) {
  Dwarf_Die die{};
  const auto call = std::lower_bound(function_.calls.begin(), function_.calls.end(), after,
                                     [](const auto& entry, uint64_t at) { return entry.first < at; });
  if (call != function_.calls.end() && call->first == after) die = call->second;
  if (die.addr == nullptr && address != 0) die = functionAt(address);
  const auto [known, isNew] = callees_.try_emplace(die.addr);
  if (!isNew || die.addr == nullptr) return known->second;
  Callee& callee = known->second;
  if (const TypeId type = table().typeOf(die); type != kNoType)
    callee.returned = types::pointeeAt(table(), type, 0);
  for (int hop = 0; hop < symbols::kLongestReferenceChain && callee.parameters.empty(); hop++) {
    bool simple = true;  // so far each parameter takes one of the integer registers
    symbols::forEachChild(die, [&](Dwarf_Die& child) {
      if (dwarf_tag(&child) != DW_TAG_formal_parameter) return true;
      const TypeId type = table().strip(table().typeOf(child));
      const types::Kind kind = table().kind(type);
      simple = kind == types::Kind::pointer || kind == types::Kind::reference ||
               kind == types::Kind::rvalueReference || kind == types::Kind::enumeration ||
               (kind == types::Kind::base && isInteger(table()[type].name));
      if (simple) callee.parameters.push_back(types::pointeeAt(table(), type, 0));
      return simple;
    });
    const auto next = symbols::completion(die);
    if (!next) break;
    die = *next;
  }
  return callee;
}

}  // namespace cacheline::inference
