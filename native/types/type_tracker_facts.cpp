// Reads the facts once; the tracker asks for them at each instruction.
#include "types/type_tracker_facts.h"

#include <dwarf.h>

#include <algorithm>

#include "symbols/die.h"
#include "symbols/dwarf_index.h"
#include "types/type_tracker_pointers.h"

namespace cacheline::types {

TrackerFacts::TrackerFacts(symbols::Module& module, BinaryTypes& types, CallFrames& frames,
                           const FunctionScopes& function)
    : module_(module), types_(types), frames_(frames), function_(function) {
  for (const LocalVariable& variable : function.variables)
    for (const LocationRange& range : variable.locations) addRegister(variable, range);
  std::stable_sort(registers_.begin(), registers_.end(),
                   [](const RegisterFact& a, const RegisterFact& b) { return a.low < b.low; });
}

void TrackerFacts::addRegister(const LocalVariable& variable, const LocationRange& range) {
  const auto& operations = range.expression.operations;
  if (operations.empty()) return;
  // A pointer, alone or as the first piece of what wraps it.
  Expression first;
  first.operations = operations;
  if (operations.size() > 1 && operations[1].code == DW_OP_piece && operations[1].first >= sizeof(uint64_t))
    first.operations.resize(1);
  const auto linear = linearForm(first, nullptr, nullptr);
  if (!linear || linear->reg == kRegNone || linear->reg == kRegSp) return;
  RegisterFact fact{range.low, range.high, linear->reg, kNoType, -linear->offset, 0};
  // An object that lies in memory at the register: its address was passed in place of it.
  fact.pointee = linear->inMemory ? table().strip(variable.type) : pointeeAt(table(), variable.type, 0);
  if (fact.pointee == kNoType) return;
  const auto size = table().sizeOf(fact.pointee);
  if (!size || *size == 0) return;
  fact.size = *size;
  registers_.push_back(fact);
}

std::optional<Linear> TrackerFacts::rule(uint64_t address) {
  const Expression* cfa = frames_.cfaAt(address);
  if (cfa == nullptr) return std::nullopt;
  auto linear = linearForm(*cfa, nullptr, nullptr);
  if (linear && linear->reg == kRegNone) return std::nullopt;
  return linear;
}

std::optional<int64_t> TrackerFacts::frameOffset(uint8_t reg, uint64_t address) {
  const auto linear = rule(address);
  if (!linear || linear->reg != reg) return std::nullopt;
  return -linear->offset;
}

const std::vector<TrackerFacts::StackVariable>& TrackerFacts::frame(uint64_t address, const Linear& rule) {
  const auto [known, isNew] = frameVariables_.try_emplace({rule.reg, rule.offset});
  if (!isNew) return known->second;
  const Expression base = frameBaseOf(function_.die, address);
  const Expression* cfa = frames_.cfaAt(address);
  for (const LocalVariable& variable : function_.variables) {
    const auto size = table().sizeOf(variable.type);
    if (!size || *size == 0) continue;
    for (const LocationRange& range : variable.locations) {
      const auto linear = linearForm(range.expression, &base, cfa);
      if (!linear || !linear->inMemory || linear->reg != rule.reg) continue;
      known->second.push_back(
          {linear->offset - rule.offset, *size, range.low, range.high, variable.scope, variable.type});
    }
  }
  return known->second;
}

std::optional<TypedPlace> TrackerFacts::stackVariable(int64_t offset, uint64_t address) {
  const auto linear = rule(address);
  if (!linear) return std::nullopt;
  for (const StackVariable& variable : frame(address, *linear)) {
    const auto inside = static_cast<uint64_t>(offset) - static_cast<uint64_t>(variable.offset);
    if (inside >= variable.size || address < variable.low || address >= variable.high ||
        !function_.inScope(variable.scope, address))
      continue;
    return TypedPlace{variable.type, inside};
  }
  return std::nullopt;
}

std::optional<TypedPlace> TrackerFacts::global(uint64_t address) {
  const auto variable = types_.variableAt(address);
  if (!variable || variable->type == kNoType) return std::nullopt;
  return TypedPlace{variable->type, address - variable->address};
}

TypeId TrackerFacts::returned(uint64_t after, uint64_t callee) {
  const auto call = std::lower_bound(function_.calls.begin(), function_.calls.end(), after,
                                     [](const auto& entry, uint64_t at) { return entry.first < at; });
  if (call != function_.calls.end() && call->first == after) {
    const TypeId type = types_.table().typeOf(call->second);
    if (type != kNoType) return pointeeAt(table(), type, 0);
  }
  if (callee == 0) return kNoType;
  const auto [known, isNew] = returns_.try_emplace(callee, kNoType);
  if (!isNew) return known->second;
  symbols::Unit* unit = module_.dwarf()->units().at(callee);
  if (unit == nullptr) return kNoType;
  auto id = unit->functions().find(callee);
  if (!id) return kNoType;
  while (unit->functions().node(*id).parent != symbols::FunctionNode::kNone)
    id = unit->functions().node(*id).parent;
  const Dwarf_Die die = unit->dieAt(unit->functions().node(*id).die);
  if (die.addr != nullptr) {
    const TypeId type = table().typeOf(die);
    if (type != kNoType) known->second = pointeeAt(table(), type, 0);
  }
  return known->second;
}

}  // namespace cacheline::types
