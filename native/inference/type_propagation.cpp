// A fixed point over the function's basic blocks; an answer replays one block up to the instruction.
#include "inference/type_propagation.h"

#include <algorithm>

#include "decode/instruction.h"
#include "inference/naming_rules.h"
#include "inference/type_propagation_impl.h"
#include "types/field_path.h"
#include "types/named_members.h"
#include "types/pointers.h"
#include "types/type_reader.h"

namespace cacheline::inference {

using types::kNoType;
using types::TypeId;

namespace {

constexpr size_t kMostVisits = 1 << 19;  // of ways between blocks; a fixed point needs a few of each
constexpr size_t kMostWork = 1 << 24;    // blocks times facts

using LoaderWord = symbols::ThreadLocals::Entry::Kind;

bool isFollowed(const decode::Instruction& instruction) {
  using Segment = decode::Instruction::Segment;
  return instruction.accesses &&
         (instruction.failure == decode::Failure::none || instruction.segment == Segment::fs);
}

decode::StepMemory memoryOf(const decode::Instruction& instruction) {
  const decode::MemoryOperand& operand = instruction.operand;
  return {operand.base, operand.index, operand.scale, instruction.segment == decode::Instruction::Segment::fs,
          operand.displacement};
}

/// Whether a constant leads behind the object that it is counted from: to its neighbour in an array, or to
/// what lies behind a member of something larger.
bool leadsBehind(const types::TypeTable& table, const AbstractValue& address) {
  if (address.kind != AbstractValue::Kind::pointer || address.stride != 0 || address.offset < 0) return false;
  const auto size = table.sizeOf(address.type);
  const auto offset = static_cast<uint64_t>(address.offset);
  return size && *size != 0 && offset >= *size && types::fieldsAt(table, address.type, offset, 1).empty();
}

}  // namespace

void TypePropagation::Impl::solve(const FunctionScopes& function) {
  if (blocks.size() * facts.registers().size() > kMostWork) {
    giveUp();
    return;
  }
  visits = 0;
  entries.assign(blocks.size(), {});
  std::vector<uint64_t> starts;
  for (const ControlFlow::Block& block : blocks) starts.push_back(steps[block.first].address);
  holding = facts.holdingAt(starts);

  Dwarf_Die die = function.die;
  Dwarf_Addr entry = 0;
  size_t start = dwarf_entrypc(&die, &entry) == 0 ? flow.stepAt(entry) : 0;
  if (start == steps.size()) start = 0;
  std::deque<size_t> work{flow.blockOf(start)};
  PropagationState& begin = entries[work.front()];
  begin.reached = true;
  for (const uint8_t reg : kArguments) begin.registers[reg] = {AbstractValue::Kind::entry, 0, reg, 0};
  std::vector<bool> fixed(blocks.size(), false);
  if (!propagate(work, fixed)) return;

  // What nothing leads to: the cases of jump tables that were not read, with what holds at the jumps; landing
  // pads and padding, with nothing. They say nothing about the blocks that are known already.
  PropagationState atJumps;
  for (size_t i = 0; i < blocks.size(); i++)
    if (entries[i].reached && blocks[i].leadsSomewhere)
      atJumps.join(facts.table(), replay(i, blocks[i].last));
  for (size_t i = 0; i < blocks.size(); i++) fixed[i] = entries[i].reached;
  for (size_t i = 0; i < blocks.size(); i++) {
    if (entries[i].reached) continue;
    entries[i] = atJumps;
    entries[i].reached = true;
    work.push_back(i);
    if (!propagate(work, fixed)) return;
  }
}

/// Nothing is said of the function.
void TypePropagation::Impl::giveUp() {
  flow.tooLong = true;
  steps.clear();
}

/// To a fixed point: states on the way there say more than what holds. False: that was given up.
bool TypePropagation::Impl::propagate(std::deque<size_t>& work, const std::vector<bool>& fixed) {
  std::vector<bool> waits(blocks.size(), false);
  while (!work.empty()) {
    const size_t here = work.front();
    visits += std::max<size_t>(blocks[here].next.size(), 1);
    if (visits > kMostVisits) {
      giveUp();
      return false;
    }
    work.pop_front();
    waits[here] = false;
    const PropagationState end = replay(here, blocks[here].last);
    for (const size_t to : blocks[here].next) {
      if (fixed[to]) continue;
      // What is stated there is stated of this way's pointer: the step to another one's is not lost.
      PropagationState there = end;
      stateAtStart(to, there);
      if (!entries[to].join(facts.table(), there) || waits[to]) continue;
      waits[to] = true;
      work.push_back(to);
    }
  }
  return true;
}

/// Takes over what is stated at an address; `from`: the first fact that was not looked at.
TypePropagation::Impl::FactIterator TypePropagation::Impl::stateUpTo(uint64_t address, PropagationState& now,
                                                                     FactIterator from) {
  for (; from != facts.registers().end() && from->low <= address; ++from)
    if (address < from->high) state(now, *from);
  return from;
}

/// Takes over what is stated at a block's first address. The first fact that was not looked at.
TypePropagation::Impl::FactIterator TypePropagation::Impl::stateAtStart(size_t block, PropagationState& now) {
  const auto first = facts.registers().begin();
  for (const uint32_t fact : holding[block].facts) state(now, first[fact]);
  return first + holding[block].next;
}

/// The state before step `end` of a block.
PropagationState TypePropagation::Impl::replay(size_t block, size_t end) {
  Replay replay(*this, block);
  while (replay.step < end) replay.advance();
  return std::move(replay.now);
}

/// Takes a fact over where it says more: of two objects at a place the outer one.
void TypePropagation::Impl::state(PropagationState& now, const RegisterFact& fact) {
  AbstractValue& value = now.registers[fact.reg];
  AbstractValue stated{AbstractValue::Kind::pointer, 0, fact.pointee, fact.offset, 0, fact.origin};
  // Where it came from says more than the variable that it was put in.
  if (value.kind == AbstractValue::Kind::pointer && value.offset == stated.offset && value.origin != 0)
    stated.origin = value.origin;
  if (value == stated) return;
  const AbstractValue before = value;
  // A `void**` says less than what is known to lie there.
  if (value.kind == AbstractValue::Kind::entry && facts.knowsBehind(static_cast<uint8_t>(value.type)) &&
      types::pointeeAt(facts.table(), fact.pointee, 0) == kNoType)
    return;
  const bool isSame = value.kind == AbstractValue::Kind::pointer && value.stride == 0 &&
                      value.offset == stated.offset && types::isSame(facts.table(), value.type, stated.type);
  if (isSame) value.origin = stated.origin;
  if (value.isOpen() || (value.kind == AbstractValue::Kind::pointer && isOuter(stated, value)))
    value = stated;
  if (!before.isOpen() || (before.kind == AbstractValue::Kind::unknown && before.identity == 0)) return;
  for (AbstractValue& other : now.registers)
    if (other == before) other = stated;
}

/// Both point into an object, `a` into one that contains the other's; or `b` points outside of its own, as a
/// container's address does that was counted back from a member's.
bool TypePropagation::Impl::isOuter(const AbstractValue& a, const AbstractValue& b) {
  const auto isPlain = [](const AbstractValue& value) {
    return value.kind == AbstractValue::Kind::pointer && value.stride == 0;
  };
  if (!isPlain(a) || !isPlain(b) || a.offset < 0) return false;
  if (b.offset < 0) return true;
  const uint64_t outer = facts.table().sizeOf(a.type).value_or(0);
  const uint64_t inner = facts.table().sizeOf(b.type).value_or(0);
  const int64_t ahead = a.offset - b.offset;  // of the inner one's start
  return outer > inner && ahead >= 0 && outer - inner >= static_cast<uint64_t>(ahead);
}

AbstractValue TypePropagation::Impl::addressOf(const decode::StepMemory& memory, uint64_t at,
                                               const PropagationState& now) {
  AbstractValue base = memory.base != kRegNone ? now.registers[memory.base] : kZero;
  if (memory.base != kRegNone)
    if (const auto frame = facts.frameOffset(memory.base, at))
      base = {AbstractValue::Kind::frame, 0, kNoType, *frame};
  if (memory.index != kRegNone) {
    const AbstractValue index = scaled(now.registers[memory.index], memory.scale);
    if (memory.base == memory.index && (base.isOpen() || base.kind == AbstractValue::Kind::constant))
      base = scaled(base, memory.scale + 1u);
    else
      base = sum(base, index);
  }
  if (base.kind == AbstractValue::Kind::unknown) return {};
  base = moved(base, memory.displacement);
  return memory.thread ? sum(kThreadPointer, base) : base;
}

/// The access of a step through a pointer of a known type.
std::optional<TypePropagation::Impl::PointerAccess> TypePropagation::Impl::pointerAccess(
    const decode::Step& step, const PropagationState& now) {
  decode::Instruction instruction;
  if (!decode::decodeInstruction(image->bytesAt(step.address, decode::kLongestInstruction), step.address,
                                 instruction) ||
      !isFollowed(instruction))
    return std::nullopt;
  const decode::MemoryOperand& operand = instruction.operand;
  const AbstractValue address = addressOf(memoryOf(instruction), step.address, now);
  if (address.kind != AbstractValue::Kind::pointer) return std::nullopt;
  return PointerAccess{address, operand.width};
}

/// Every access through the guessed type is to a whole field of it, and there is one.
bool TypePropagation::Impl::guessFits() {
  const auto isGuess = [this](const AbstractValue& value) {
    return value.kind == AbstractValue::Kind::pointer && value.type == facts.guess();
  };
  bool any = false;
  for (size_t i = 0; i < blocks.size(); i++)
    for (Replay replay(*this, i); replay.step < blocks[i].last; replay.advance()) {
      const auto& registers = replay.now.registers;
      if (std::none_of(registers.begin(), registers.end(), isGuess)) continue;
      const auto access = pointerAccess(steps[replay.step], replay.now);
      if (!access || !isGuess(access->address)) continue;
      any = true;
      if (!types::isField(facts.table(), facts.guess(), static_cast<uint64_t>(access->address.offset),
                          access->width))
        return false;
    }
  return any;
}

/// Types of which objects are members of something larger in this function (a constant leads behind one of
/// them, and not to a field of a neighbour), and types whose objects it counts.
const TypePropagation::Impl::Neighbours& TypePropagation::Impl::neighboursHere() {
  if (neighbours) return *neighbours;
  neighbours.emplace();
  for (size_t i = 0; i < blocks.size(); i++)
    for (Replay replay(*this, i); replay.step < blocks[i].last; replay.advance()) {
      const auto access = pointerAccess(steps[replay.step], replay.now);
      if (!access) continue;
      const TypeId type = access->address.type;
      const uint64_t size = facts.table().sizeOf(type).value_or(0), stride = access->address.stride;
      if (stride != 0 && size != 0 && stride % size == 0) neighbours->counted.insert(type);
      if (!leadsBehind(facts.table(), access->address)) continue;
      if (!types::isField(facts.table(), type, static_cast<uint64_t>(access->address.offset) % size,
                          access->width))
        neighbours->contained.insert(type);
    }
  return *neighbours;
}

/// Of an access of `width` bytes whose constant leads out of its object: the place in what contains that,
/// where no other type of the binary, and no neighbour in an array, has such a member there; open where that
/// cannot be told (`doubt`, which may be null, then says between what). `address` itself: the neighbour, or
/// no such case. `solved`: what the whole function does is known.
AbstractValue TypePropagation::Impl::resolved(const AbstractValue& address, uint32_t width, bool solved,
                                              Doubt* doubt) {
  const types::TypeTable& table = facts.table();
  if (address.kind != AbstractValue::Kind::pointer || address.stride != 0 ||
      isOff(NamingRule::enclosingTypes))
    return address;
  const bool behind = leadsBehind(table, address);
  if (!behind && address.offset >= 0) return address;
  const bool contained = behind && solved && neighboursHere().contained.contains(address.type);
  const AbstractValue otherwise = contained ? AbstractValue{} : address;
  const TypeId stripped = table.strip(address.type);
  if (!facts.countsOutOfMembers() || stripped == kNoType || !types::isAggregate(table.kind(stripped)) ||
      types::wrapped(table, stripped))
    return otherwise;
  const layouts::Surroundings& around = facts.types().around(address.type, address.offset, width);
  const bool link = layouts::isLink(table, stripped);
  if (around.members.empty() && !around.others && (around.all || !link)) return otherwise;
  const auto next = contained ? std::nullopt : types::within(table, address.type, address.offset, 0);
  const bool neighbour = next && types::isField(table, address.type, next->offset, width);
  if (neighbour && solved && neighboursHere().counted.contains(address.type)) return address;
  const uint64_t size = std::max<uint64_t>(table.sizeOf(stripped).value_or(0), 1);
  const bool inArray = static_cast<uint64_t>(address.offset) / size < around.elements;
  if (around.members.size() == 1 && around.all && (!neighbour || (link && !inArray))) {
    const layouts::Enclosing& enclosing = around.members.front();
    return {AbstractValue::Kind::pointer, 0, enclosing.type,
            address.offset + static_cast<int64_t>(enclosing.offset)};
  }
  if (doubt != nullptr) {
    *doubt = {stripped, {}, neighbour, {}};
    for (const layouts::Enclosing& enclosing : around.members)
      doubt->enclosingTypes.push_back(enclosing.type);
  }
  return {};
}

std::optional<TypePropagation::Operand> TypePropagation::Impl::place(const AbstractValue& address,
                                                                     uint64_t at) {
  std::optional<TypedPlace> place;
  if (address.kind == AbstractValue::Kind::pointer) {
    const auto inside = types::within(facts.table(), address.type, address.offset, address.stride);
    if (!inside) return std::nullopt;
    return Operand{address.type, inside->offset, inside->indexed, inside->array, address, {}, false};
  }
  if (address.kind == AbstractValue::Kind::frame) place = facts.stackVariable(address.offset, at);
  if (address.kind == AbstractValue::Kind::constant)
    place = facts.global(static_cast<uint64_t>(address.offset));
  if (address.kind == AbstractValue::Kind::threadPointer || address.kind == AbstractValue::Kind::threadLocal)
    place = facts.threadLocal(address);
  if (!place) return std::nullopt;
  if (address.stride == 0)
    return Operand{place->type,     place->offset, false, {},           address,
                   place->variable, false,         false, place->origin};
  const auto inside =
      types::within(facts.table(), place->type, static_cast<int64_t>(place->offset), address.stride);
  if (!inside) return std::nullopt;
  return Operand{place->type, place->offset, inside->indexed, inside->array, address, place->variable, false};
}

/// What 8 bytes read from an address are.
AbstractValue TypePropagation::Impl::loaded(const AbstractValue& address, uint64_t at,
                                            const PropagationState& now) {
  if (address == kThreadPointer) return address;  // the first word behind the block holds its own address
  if (const AbstractValue word = facts.byLoader(address, LoaderWord::fromThreadPointer); !word.isOpen())
    return word;
  const AbstractValue* slot = address.kind == AbstractValue::Kind::frame && address.stride == 0
                                  ? now.slotAt(address.offset)
                                  : nullptr;
  const auto found = place(resolved(address, sizeof(uint64_t), false, nullptr), at);
  TypeId pointee = found ? types::pointeeAt(facts.table(), found->type, found->offset) : kNoType;
  AbstractValue declared{AbstractValue::Kind::pointer, 0, pointee, 0};
  if (address.kind == AbstractValue::Kind::entry && address.stride == 0) {
    const PropagationFacts::Behind behind =
        facts.behindArgument(static_cast<uint8_t>(address.type), address.offset);
    declared.type = pointee = behind.pointee;
    declared.origin = behind.origin;
  } else if (address.kind == AbstractValue::Kind::constant && address.stride == 0) {
    declared.origin = static_cast<uint64_t>(address.offset);
  } else if (pointee != kNoType && !found->around && !found->inside()) {
    const uint64_t holder = address.kind == AbstractValue::Kind::pointer ? address.origin
                            : address.kind == AbstractValue::Kind::constant
                                ? static_cast<uint64_t>(address.offset)
                                : found->origin;
    declared.origin = facts.memberPointer(found->type, found->offset, holder, found->indexed);
  }
  if (slot != nullptr && (pointee == kNoType || !(slot->isOpen() || isOuter(declared, *slot)))) return *slot;
  return pointee != kNoType ? declared : AbstractValue{};
}

/// What the function of a TLS descriptor returns; open: another one is called.
AbstractValue TypePropagation::Impl::byDescriptor(const decode::Step& call, const PropagationState& now) {
  return facts.byLoader(addressOf(call.memory, call.address, now), LoaderWord::descriptor);
}

void TypePropagation::Impl::apply(const decode::Step& step, PropagationState& now) {
  auto& registers = now.registers;
  const auto addressHere = [&] { return addressOf(step.memory, step.address, now); };
  AbstractValue result;
  uint32_t written = step.written;
  switch (step.kind) {
    case decode::Step::Kind::copy:
      // What is stated of one of the two later holds for the other.
      if (AbstractValue& source = registers[step.source];
          source.kind == AbstractValue::Kind::unknown && source.identity == 0) {
        now.forgetIdentity(static_cast<int64_t>(step.address));
        source.identity = static_cast<int64_t>(step.address);
      }
      result = registers[step.source];
      if (const auto frame = facts.frameOffset(step.source, step.address))
        result = {AbstractValue::Kind::frame, 0, kNoType, *frame};
      break;
    case decode::Step::Kind::load:
      result = loaded(addressHere(), step.address, now);
      break;
    case decode::Step::Kind::address:
      result = addressHere();
      break;
    case decode::Step::Kind::constant:
      result = {AbstractValue::Kind::constant, 0, kNoType, step.memory.displacement};
      break;
    case decode::Step::Kind::add:
      result = moved(registers[step.target], step.memory.displacement);
      break;
    case decode::Step::Kind::addRegister:
      result = step.target == step.source ? scaled(registers[step.target], 2)
                                          : sum(registers[step.target], registers[step.source]);
      break;
    case decode::Step::Kind::subRegister:
      result = difference(registers[step.target], registers[step.source]);
      break;
    case decode::Step::Kind::addLoad:
      result = sum(registers[step.target], loaded(addressHere(), step.address, now));
      break;
    case decode::Step::Kind::scale:
      result = scaled(registers[step.source], static_cast<uint64_t>(step.factor));
      break;
    case decode::Step::Kind::scaleLoad:
      result = scaled(loaded(addressHere(), step.address, now), static_cast<uint64_t>(step.factor));
      break;
    case decode::Step::Kind::choose:
      result = joined(facts.table(), registers[step.target], registers[step.source]);
      break;
    case decode::Step::Kind::chooseLoad:
      result = joined(facts.table(), registers[step.target], loaded(addressHere(), step.address, now));
      break;
    case decode::Step::Kind::swap:
      result = registers[step.source];
      registers[step.source] = registers[step.target];
      break;
    case decode::Step::Kind::store: {
      const AbstractValue address = addressHere();
      if (address.kind != AbstractValue::Kind::frame || address.stride != 0) break;
      now.forget(address.offset, step.width);
      if (step.source != kRegNone && registers[step.source].kind != AbstractValue::Kind::unknown)
        now.slots.emplace_back(address.offset, registers[step.source]);
      break;
    }
    case decode::Step::Kind::call:
      result = byDescriptor(step, now);
      if (!result.isOpen()) {
        written = kByDescriptor;
        break;
      }
      result = facts.returnedBy(step.address + step.length, step.destination, registers[kRegDi]);
      break;
    default:
      break;
  }
  const bool sets = step.target != kRegNone && step.kind != decode::Step::Kind::other;
  for (uint8_t reg = 0; reg < kRegCount; reg++)
    if (((written >> reg) & 1) != 0 && !(step.kind == decode::Step::Kind::swap && reg == step.source))
      registers[reg] = {};
  if (sets) registers[step.target] = result;
}

TypePropagation::TypePropagation(symbols::Module& module, layouts::BinaryTypes& types, CallFrames& frames,
                                 const FunctionScopes& function)
    : impl_(std::make_unique<Impl>(module, types, frames, function)) {}
TypePropagation::~TypePropagation() = default;

std::optional<TypePropagation::Operand> TypePropagation::operandAt(uint64_t access, Doubt* doubt) {
  Impl& impl = *impl_;
  const size_t step = impl.flow.stepAt(access);
  if (doubt != nullptr) doubt->tooLong = impl.flow.tooLong;
  if (step == impl.steps.size()) return std::nullopt;
  decode::Instruction instruction;
  if (!decode::decodeInstruction(impl.image->bytesAt(access, decode::kLongestInstruction), access,
                                 instruction) ||
      !isFollowed(instruction))
    return std::nullopt;
  const decode::StepMemory memory = memoryOf(instruction);
  PropagationState now = impl.replay(impl.flow.blockOf(step), step);
  AbstractValue address = impl.addressOf(memory, access, now);
  if (address.isOpen() && memory.base != kRegNone && !isOff(NamingRule::inferBackward)) {
    now.registers[memory.base] = impl.inferBackward(step, memory.base);
    address = impl.addressOf(memory, access, now);
  }
  const AbstractValue there = impl.resolved(address, instruction.operand.width, true, doubt);
  auto found = impl.place(there, access);
  // Any distance, as that to a virtual base or a member that a pointer names, counts no bytes of text.
  if (!found || (found->inside() && address.stride == 1 && instruction.operand.width > 1))
    return std::nullopt;
  found->around = !(there == address);
  found->contested = memory.base != kRegNone && impl.facts.isContested(memory.base, access);
  return found;
}

std::optional<TypePropagation::Load> TypePropagation::loadOf(uint64_t pointer, uint64_t access) const {
  const size_t step = impl_->flow.stepAt(access);
  if (step == impl_->steps.size()) return std::nullopt;
  const size_t first = impl_->blocks[impl_->flow.blockOf(step)].first;
  for (size_t i = step; i-- > first;) {
    const decode::Step& here = impl_->steps[i];
    const decode::StepMemory& memory = here.memory;
    const bool adds = here.kind == decode::Step::Kind::addLoad;
    if ((adds || here.kind == decode::Step::Kind::load) && memory.base == kRegNone &&
        memory.index == kRegNone && !memory.thread && static_cast<uint64_t>(memory.displacement) == pointer)
      return Load{impl_->steps[first].address, here.address, here.target, adds};
  }
  return std::nullopt;
}

std::vector<TypePropagation::Pointer> TypePropagation::pointersAt(uint64_t access) {
  std::vector<Pointer> pointers;
  const size_t step = impl_->flow.stepAt(access);
  if (step == impl_->steps.size()) return pointers;
  const PropagationState now = impl_->replay(impl_->flow.blockOf(step), step);
  for (uint8_t reg = 0; reg < kRegCount; reg++) {
    const AbstractValue& value = now.registers[reg];
    if (value.kind != AbstractValue::Kind::pointer || impl_->facts.frameOffset(reg, access)) continue;
    const uint64_t size = impl_->facts.table().sizeOf(value.type).value_or(0);
    // Behind one with an flexible array member there are its elements, not its neighbours.
    if (value.stride != 0 && types::endsInFlexibleArray(impl_->facts.table(), value.type)) continue;
    if (size != 0 && value.stride % size == 0)
      pointers.push_back({reg, value.type, value.offset, value.stride != 0, value.origin});
  }
  return pointers;
}

std::string TypePropagation::pointerName(uint64_t origin) {
  return impl_->facts.pointerName(origin);
}

}  // namespace cacheline::inference
