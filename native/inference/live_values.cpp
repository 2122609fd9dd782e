// Picks the variables in scope that have a place at the access or at the sampled instruction.
#include "inference/live_values.h"

#include <dwarf.h>

#include <algorithm>

#include "decode/instruction.h"
#include "decode/slice.h"
#include "types/pointers.h"
#include "types/type_reader.h"

namespace cacheline::inference {

using types::TypeTable;

namespace {

constexpr uint64_t kLongestWay = 4096;   // bytes from an access to the sampled instruction
constexpr size_t kMostCandidates = 512;  // of one code location

/// Every sample would give unknown: an entry value, or memory.
bool isHopeless(const Expression& expression) {
  bool pieces = false, hopeless = expression.operations.empty();
  for (const Operation& operation : expression.operations) {
    switch (operation.code) {
      case DW_OP_piece:
        pieces = true;
        break;
      case DW_OP_deref:
      case DW_OP_deref_size:
      case DW_OP_deref_type:
      case DW_OP_GNU_deref_type:
      case DW_OP_entry_value:
      case DW_OP_GNU_entry_value:
        hopeless = true;
        break;
      default:
        break;
    }
  }
  return hopeless && !pieces;
}

/// The variable has a place of its own on the stack. Elsewhere in memory the compiler says only that its
/// value can be read there: in a member that it was loaded from.
bool isOnStack(const Expression& expression, const Linear& linear, const Expression* cfa) {
  if (expression.operations[0].code == DW_OP_fbreg || linear.reg == kRegSp) return true;
  const auto rule = cfa != nullptr ? linearForm(*cfa, nullptr, nullptr) : std::nullopt;
  return rule && rule->reg == linear.reg;
}

class LiveValuesMaker {
 public:
  LiveValuesMaker(const TypeTable& table, const FunctionScopes& function, LiveValues& values)
      : table_(table), function_(function), values_(values) {}

  void take(uint32_t id, uint32_t depth, const Expression& expression, bool atAccess) {
    if (isHopeless(expression) || values_.candidates.size() + values_.general.size() >= kMostCandidates)
      return;
    const ScopedVariable& variable = function_.variables[id];
    const auto linear = linearForm(expression, atAccess ? &values_.frameBaseAtAccess : &values_.frameBaseAtIp,
                                   atAccess ? values_.cfaAtAccess : values_.cfaAtIp);
    if (!linear) {
      values_.general.push_back({id, depth, &expression, atAccess});
      return;
    }
    Candidate candidate;
    candidate.variable = id;
    candidate.depth = depth;
    candidate.isObject =
        linear->inMemory && isOnStack(expression, *linear, atAccess ? values_.cfaAtAccess : values_.cfaAtIp);
    candidate.type =
        linear->inMemory ? table_.strip(variable.type) : types::pointeeAt(table_, variable.type, 0);
    candidate.size = table_.sizeOf(candidate.type).value_or(0);
    candidate.reg = linear->reg;
    candidate.addLoadBias = linear->isAddress;
    candidate.offset = static_cast<uint64_t>(linear->offset);
    if (candidate.type != types::kNoType && types::isAggregate(table_.kind(candidate.type)) &&
        !table_.sizeOf(candidate.type))
      values_.undefined = candidate.type;
    if (candidate.type == types::kNoType || candidate.size == 0) return;
    // Static variables are named by their address, whatever the code.
    if (linear->isAddress && linear->inMemory) return;
    if (atAccess && candidate.reg != kRegNone) {
      const RegistersBack::From& from = values_.back.at[candidate.reg];
      if (from.reg == kRegNone) return;
      candidate.reg = from.reg;
      candidate.offset += from.delta;
    }
    const bool known =
        std::any_of(values_.candidates.begin(), values_.candidates.end(), [&](const Candidate& other) {
          return other.variable == id && other.reg == candidate.reg && other.offset == candidate.offset &&
                 other.isObject == candidate.isObject;
        });
    if (!known) values_.candidates.push_back(candidate);
  }

 private:
  const TypeTable& table_;
  const FunctionScopes& function_;
  LiveValues& values_;
};

const Expression* expressionAt(const ScopedVariable& variable, uint64_t address) {
  for (const LocationRange& range : variable.locations)
    if (address >= range.low && address < range.high) return &range.expression;
  return nullptr;
}

}  // namespace

Registers RegistersBack::apply(const Registers& registers) const {
  if (same) return registers;
  Registers result;
  for (uint8_t reg = 0; reg < kRegCount; reg++) {
    if (!registers.has(at[reg].reg)) continue;
    result.mask |= uint64_t{1} << reg;
    result.value[reg] = registers.value[at[reg].reg] + at[reg].delta;
  }
  return result;
}

RegistersBack registersBack(const symbols::ElfImage& image, uint64_t access, uint64_t ip) {
  RegistersBack back;
  for (uint8_t reg = 0; reg < kRegCount; reg++) back.at[reg] = {reg, 0};
  if (access == ip) return back;
  back.same = false;
  const auto lose = [&] { back.at.fill({}); };
  uint64_t at = access;
  if (ip < access || ip - access > kLongestWay) lose();
  while (at < ip && ip - access <= kLongestWay) {
    decode::Instruction instruction;
    if (!decode::decodeInstruction(image.bytesAt(at, decode::kLongestInstruction), at, instruction)) {
      lose();
      break;
    }
    for (RegistersBack::From& from : back.at) {
      if (from.reg == kRegNone) continue;
      auto delta = static_cast<int64_t>(from.delta);
      if (decode::follow(instruction, from.reg, 1, delta))
        from.delta = static_cast<uint64_t>(delta);
      else
        from = {};
    }
    at += instruction.length;
  }
  if (at != ip) lose();
  return back;
}

std::optional<uint64_t> LoadedPointer::value(const Registers& registers, uint64_t loadBias) const {
  if (with.empty()) return std::nullopt;
  const auto sum = decode::evaluate(with, registers, loadBias);
  if (!sum || without.empty()) return sum;
  const auto before = decode::evaluate(without, registers, loadBias);
  return before ? std::optional(*sum - *before) : std::nullopt;
}

LoadedPointer loadedPointer(const symbols::ElfImage& image, const TypePropagation::Load& load, uint64_t ip) {
  if (ip < load.block || ip - load.block > kLongestWay) return {};
  std::vector<decode::Instruction> line;
  size_t loads = 0;  // index of the load
  for (uint64_t at = load.block; at < ip; at += line.back().length) {
    if (at == load.address) loads = line.size();
    if (!decode::decodeInstruction(image.bytesAt(at, decode::kLongestInstruction), at, line.emplace_back()))
      return {};
  }
  decode::Sum loaded;
  loaded.add(load.reg, 1);
  LoadedPointer pointer;
  if (load.adds) {
    pointer.without = decode::recover(line, loads, loaded);
    if (pointer.without.empty()) return {};
  }
  pointer.with = decode::recover(line, loads + 1, loaded);
  return pointer;
}

LiveValues liveValuesAt(const symbols::ElfImage& image, const TypeTable& table, CallFrames& frames,
                        const FunctionScopes& function, uint64_t access, uint64_t ip) {
  LiveValues values;
  values.back = registersBack(image, access, ip);
  values.frameBaseAtAccess = frameBaseOf(function.die, access);
  values.frameBaseAtIp = frameBaseOf(function.die, ip);
  values.cfaAtAccess = frames.cfaAt(access);
  values.cfaAtIp = frames.cfaAt(ip);
  decode::Instruction instruction;
  if (decode::decodeInstruction(image.bytesAt(access, decode::kLongestInstruction), access, instruction) &&
      instruction.accesses && instruction.failure == decode::Failure::none)
    values.operand = instruction.operand;
  LiveValuesMaker maker(table, function, values);
  const uint32_t inlines = function.inlinesAt(access);
  for (uint32_t id = 0; id < function.variables.size(); id++) {
    const ScopedVariable& variable = function.variables[id];
    if (!function.inScope(variable.scope, access)) continue;
    const uint32_t depth = inlines - std::min(inlines, function.scopes[variable.scope].inlines);
    if (const Expression* there = expressionAt(variable, ip)) maker.take(id, depth, *there, false);
    if (access == ip) continue;
    if (const Expression* there = expressionAt(variable, access)) maker.take(id, depth, *there, true);
  }
  return values;
}

}  // namespace cacheline::inference
