// A fixed point over the function's basic blocks; an answer replays one block up to the instruction.
#include "types/type_tracker.h"

#include <algorithm>
#include <deque>

#include "decode/instruction.h"
#include "types/type_tracker_facts.h"
#include "types/type_tracker_pointers.h"
#include "types/type_tracker_state.h"
#include "types/type_tracker_steps.h"

namespace cacheline::types {
namespace {

constexpr uint64_t kMostCode = 1 << 20;  // bytes of one function; longer ones are not tracked
constexpr size_t kMostVisits = 1 << 16;  // of blocks; a fixed point needs a few of each
constexpr size_t kFarthestUse = 32;      // instructions looked ahead for the variable that a register becomes
constexpr size_t kLongestInstruction = 15;
constexpr uint8_t kArguments[] = {kRegDi, kRegSi, kRegDx, kRegCx, kRegR8, kRegR9};

struct Block {
  size_t first = 0, last = 0;  ///< steps [first, last)
  TrackerState entry;
};

Held moved(Held held, int64_t by) {
  if (held.kind != Held::Kind::unknown)
    held.offset = static_cast<int64_t>(static_cast<uint64_t>(held.offset) + static_cast<uint64_t>(by));
  return held;
}

}  // namespace

struct TypeTracker::Impl {
  TrackerFacts facts;
  const symbols::ElfImage* image;
  std::vector<Step> steps;    // ascending addresses
  std::vector<Block> blocks;  // in the order of the steps

  Impl(symbols::Module& module, BinaryTypes& types, CallFrames& frames, const FunctionScopes& function)
      : facts(module, types, frames, function), image(module.image()) {
    decode(function);
    if (!steps.empty()) solve(function);
  }

  void decode(const FunctionScopes& function);
  void solve(const FunctionScopes& function);
  size_t stepAt(uint64_t address) const;
  void propagate(std::deque<size_t>& work, const std::vector<bool>& fixed);
  size_t blockOf(size_t step) const;
  TrackerState replay(const Block& block, size_t end);
  void apply(const Step& step, TrackerState& state);
  void state(TrackerState& now, const RegisterFact& fact);
  Held addressOf(const StepMemory& memory, uint64_t at, const TrackerState& state);
  Held loaded(const Held& address, uint64_t at, const TrackerState& state);
  std::optional<Operand> place(const Held& address, uint64_t at);
  Held laterUse(size_t step, uint8_t reg);
};

void TypeTracker::Impl::decode(const FunctionScopes& function) {
  if (image == nullptr || image->isDebugOnly()) return;
  auto ranges = function.ranges;
  std::sort(ranges.begin(), ranges.end(),
            [](const CodeRange& a, const CodeRange& b) { return a.low < b.low; });
  uint64_t bytes = 0;
  for (const CodeRange& range : ranges) {
    bytes += range.high - range.low;
    if (bytes > kMostCode) {
      steps.clear();
      return;
    }
    const auto part = decodeSteps(image->bytesAt(range.low, range.high - range.low), range.low);
    steps.insert(steps.end(), part.begin(), part.end());
  }
}

/// The step at an address; steps.size() where none starts there.
size_t TypeTracker::Impl::stepAt(uint64_t address) const {
  const auto found = std::lower_bound(steps.begin(), steps.end(), address,
                                      [](const Step& step, uint64_t at) { return step.address < at; });
  return found != steps.end() && found->address == address ? static_cast<size_t>(found - steps.begin())
                                                           : steps.size();
}

size_t TypeTracker::Impl::blockOf(size_t step) const {
  const auto after = std::upper_bound(blocks.begin(), blocks.end(), step,
                                      [](size_t at, const Block& block) { return at < block.first; });
  return static_cast<size_t>(after - blocks.begin()) - 1;
}

void TypeTracker::Impl::solve(const FunctionScopes& function) {
  std::vector<bool> leads(steps.size() + 1, false);
  leads[0] = true;
  for (size_t i = 0; i < steps.size(); i++) {
    const Step& step = steps[i];
    if (step.flow != Step::Flow::next || step.kind == Step::Kind::call) leads[i + 1] = true;
    if (i + 1 < steps.size() && steps[i + 1].address != step.address + step.length) leads[i + 1] = true;
    if (step.flow == Step::Flow::jump || step.flow == Step::Flow::conditional)
      leads[stepAt(step.destination)] = true;
  }
  for (size_t i = 0; i < steps.size(); i++)
    if (leads[i]) {
      if (!blocks.empty()) blocks.back().last = i;
      blocks.push_back({i, steps.size(), {}});
    }

  Dwarf_Die die = function.die;
  Dwarf_Addr entry = 0;
  size_t start = dwarf_entrypc(&die, &entry) == 0 ? stepAt(entry) : 0;
  if (start == steps.size()) start = 0;
  std::deque<size_t> work{blockOf(start)};
  blocks[work.front()].entry.reached = true;
  std::vector<bool> fixed(blocks.size(), false);
  propagate(work, fixed);

  // What nothing leads to: the cases of jump tables, with what holds at the jumps; landing pads and padding,
  // with nothing. They say nothing about the blocks that are known already.
  TrackerState atJumps;
  for (const Block& block : blocks) {
    const Step& last = steps[block.last - 1];
    if (block.entry.reached && last.flow == Step::Flow::ends && last.kind == Step::Kind::jumpThrough)
      atJumps.join(facts.table(), replay(block, block.last));
  }
  for (size_t i = 0; i < blocks.size(); i++) fixed[i] = blocks[i].entry.reached;
  for (size_t i = 0; i < blocks.size(); i++) {
    if (blocks[i].entry.reached) continue;
    blocks[i].entry = atJumps;
    blocks[i].entry.reached = true;
    work.push_back(i);
    propagate(work, fixed);
  }
}

void TypeTracker::Impl::propagate(std::deque<size_t>& work, const std::vector<bool>& fixed) {
  for (size_t visits = 0; !work.empty() && visits < kMostVisits; visits++) {
    const Block& block = blocks[work.front()];
    const size_t here = work.front();
    work.pop_front();
    const TrackerState end = replay(block, block.last);
    const Step& last = steps[block.last - 1];
    const auto lead = [&](size_t step) {
      if (step >= steps.size()) return;
      const size_t to = blockOf(step);
      if (fixed[to] || blocks[to].first != step) return;
      if (blocks[to].entry.join(facts.table(), end) && std::find(work.begin(), work.end(), to) == work.end())
        work.push_back(to);
    };
    if (last.flow == Step::Flow::jump || last.flow == Step::Flow::conditional) lead(stepAt(last.destination));
    if (last.flow == Step::Flow::next || last.flow == Step::Flow::conditional)
      if (here + 1 < blocks.size() && steps[block.last].address == last.address + last.length)
        lead(block.last);
  }
  work.clear();
}

/// The state before step `end` of a block.
TrackerState TypeTracker::Impl::replay(const Block& block, size_t end) {
  TrackerState now = block.entry;
  const auto& known = facts.registers();
  const uint64_t start = steps[block.first].address;
  auto fact = known.begin();
  for (; fact != known.end() && fact->low <= start; ++fact)
    if (start < fact->high) state(now, *fact);
  for (size_t i = block.first; i < end; i++) {
    apply(steps[i], now);
    const uint64_t next = steps[i].address + steps[i].length;
    for (; fact != known.end() && fact->low <= next; ++fact)
      if (next < fact->high) state(now, *fact);
  }
  return now;
}

/// Takes a fact over where it says more: of two objects at a place the outer one.
void TypeTracker::Impl::state(TrackerState& now, const RegisterFact& fact) {
  Held& held = now.registers[fact.reg];
  if (held.kind == Held::Kind::pointer) {
    const bool outer = held.offset == 0 && !held.indexed && fact.offset == 0 &&
                       fact.size > facts.table().sizeOf(held.type).value_or(0);
    if (!outer) return;
  } else if (held.kind != Held::Kind::unknown) {
    return;
  }
  held = {Held::Kind::pointer, false, fact.pointee, fact.offset};
}

Held TypeTracker::Impl::addressOf(const StepMemory& memory, uint64_t at, const TrackerState& now) {
  Held base{Held::Kind::constant, false, kNoType, 0};
  if (memory.base != kRegNone) {
    base = now.registers[memory.base];
    if (const auto frame = facts.frameOffset(memory.base, at))
      base = {Held::Kind::frame, false, kNoType, *frame};
  }
  if (memory.index != kRegNone) {
    // The base may be written as the index, and a small number as the base.
    const Held& index = now.registers[memory.index];
    if (base.kind != Held::Kind::pointer && base.kind != Held::Kind::frame && memory.scale == 1 &&
        index.kind == Held::Kind::pointer)
      base = index;
    base.indexed = base.kind != Held::Kind::unknown;
  }
  return moved(base, memory.displacement);
}

std::optional<TypeTracker::Operand> TypeTracker::Impl::place(const Held& address, uint64_t at) {
  std::optional<TypedPlace> place;
  if (address.kind == Held::Kind::pointer) {
    const auto inside = within(facts.table(), address.type, address.offset, address.indexed);
    if (!inside) return std::nullopt;
    return Operand{address.type, inside->offset, inside->indexed, address};
  }
  if (address.kind == Held::Kind::frame) place = facts.stackVariable(address.offset, at);
  if (address.kind == Held::Kind::constant) place = facts.global(static_cast<uint64_t>(address.offset));
  if (!place) return std::nullopt;
  return Operand{place->type, place->offset, address.indexed, address};
}

/// What 8 bytes read from an address are.
Held TypeTracker::Impl::loaded(const Held& address, uint64_t at, const TrackerState& now) {
  if (address.kind == Held::Kind::frame && !address.indexed)
    if (const Held* slot = now.slotAt(address.offset)) return *slot;
  const auto found = place(address, at);
  if (!found) return {};
  const TypeId pointee = pointeeAt(facts.table(), found->type, found->offset);
  if (pointee == kNoType) return {};
  return {Held::Kind::pointer, false, pointee, 0};
}

void TypeTracker::Impl::apply(const Step& step, TrackerState& now) {
  auto& registers = now.registers;
  const auto addressHere = [&] { return addressOf(step.memory, step.address, now); };
  Held result;
  switch (step.kind) {
    case Step::Kind::copy:
      result = registers[step.source];
      if (const auto frame = facts.frameOffset(step.source, step.address))
        result = {Held::Kind::frame, false, kNoType, *frame};
      break;
    case Step::Kind::load:
      result = loaded(addressHere(), step.address, now);
      break;
    case Step::Kind::address:
      result = addressHere();
      break;
    case Step::Kind::constant:
      result = {Held::Kind::constant, false, kNoType, step.memory.displacement};
      break;
    case Step::Kind::add:
      result = moved(registers[step.target], step.memory.displacement);
      break;
    case Step::Kind::addRegister: {
      const Held &a = registers[step.target], &b = registers[step.source];
      const bool known = a.kind == Held::Kind::pointer || a.kind == Held::Kind::frame;
      result = known ? a : b.kind == Held::Kind::pointer || b.kind == Held::Kind::frame ? b : Held{};
      result.indexed = result.kind != Held::Kind::unknown;
      break;
    }
    case Step::Kind::choose:
      result = joined(facts.table(), registers[step.target], registers[step.source]);
      break;
    case Step::Kind::chooseLoad:
      result = joined(facts.table(), registers[step.target], loaded(addressHere(), step.address, now));
      break;
    case Step::Kind::swap:
      result = registers[step.source];
      registers[step.source] = registers[step.target];
      break;
    case Step::Kind::store: {
      const Held address = addressHere();
      if (address.kind != Held::Kind::frame || address.indexed) break;
      now.forget(address.offset, step.width);
      if (step.source != kRegNone && registers[step.source].kind != Held::Kind::unknown)
        now.slots.emplace_back(address.offset, registers[step.source]);
      break;
    }
    default:
      break;
  }
  const bool sets = step.target != kRegNone && step.kind != Step::Kind::other;
  for (uint8_t reg = 0; reg < kRegCount; reg++)
    if (((step.written >> reg) & 1) != 0 && !(step.kind == Step::Kind::swap && reg == step.source))
      registers[reg] = {};
  if (sets) registers[step.target] = result;
  if (step.kind == Step::Kind::call) {
    const TypeId pointee = facts.callee(step.address + step.length, step.destination).returned;
    if (pointee != kNoType) registers[kRegAx] = {Held::Kind::pointer, false, pointee, 0};
  }
}

/// The type of a register by what it, or a copy of it, becomes further on: a variable, or an argument of a
/// call.
Held TypeTracker::Impl::laterUse(size_t step, uint8_t reg) {
  uint32_t same = 1u << reg;  // registers that hold the value
  for (size_t i = step, end = std::min(steps.size(), step + kFarthestUse); i < end && same != 0; i++) {
    const Step& here = steps[i];
    if (here.kind == Step::Kind::call) {
      const auto& parameters = facts.callee(here.address + here.length, here.destination).parameters;
      for (size_t k = 0; k < std::min(parameters.size(), std::size(kArguments)); k++)
        if (((same >> kArguments[k]) & 1) != 0 && parameters[k] != kNoType)
          return {Held::Kind::pointer, false, parameters[k], 0};
    }
    const uint32_t copied =
        here.kind == Step::Kind::copy && ((same >> here.source) & 1) != 0 ? 1u << here.target : 0;
    same = (same & ~here.written) | copied;
    if (here.flow == Step::Flow::jump || here.flow == Step::Flow::ends) break;
    const uint64_t next = here.address + here.length;
    const auto& known = facts.registers();
    auto fact = std::lower_bound(known.begin(), known.end(), next,
                                 [](const RegisterFact& entry, uint64_t at) { return entry.low < at; });
    for (; fact != known.end() && fact->low == next; ++fact)
      if (((same >> fact->reg) & 1) != 0) return {Held::Kind::pointer, false, fact->pointee, fact->offset};
  }
  return {};
}

TypeTracker::TypeTracker(symbols::Module& module, BinaryTypes& types, CallFrames& frames,
                         const FunctionScopes& function)
    : impl_(std::make_unique<Impl>(module, types, frames, function)) {}
TypeTracker::~TypeTracker() = default;

std::optional<TypeTracker::Operand> TypeTracker::operandAt(uint64_t access) {
  Impl& impl = *impl_;
  const size_t step = impl.stepAt(access);
  if (step == impl.steps.size()) return std::nullopt;
  decode::Instruction instruction;
  if (!decode::decodeInstruction(impl.image->bytesAt(access, kLongestInstruction), access, instruction) ||
      !instruction.accesses || instruction.failure != decode::Failure::none)
    return std::nullopt;
  const decode::MemoryOperand& operand = instruction.operand;
  const StepMemory memory{operand.base, operand.index, operand.scale, operand.displacement};
  TrackerState now = impl.replay(impl.blocks[impl.blockOf(step)], step);
  Held address = impl.addressOf(memory, access, now);
  if (address.kind == Held::Kind::unknown && memory.base != kRegNone) {
    now.registers[memory.base] = impl.laterUse(step, memory.base);
    address = impl.addressOf(memory, access, now);
  }
  return impl.place(address, access);
}

}  // namespace cacheline::types
