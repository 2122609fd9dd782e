// What a value becomes further on: the type of what an unknown register holds, or of what was allocated.
#include <algorithm>
#include <bit>
#include <iterator>
#include <set>

#include "inference/type_propagation_impl.h"
#include "layouts/natural_alignment.h"
#include "types/pointers.h"
#include "types/type_reader.h"

namespace cacheline::inference {

using types::kNoType;

namespace {

constexpr size_t kFarthestUse = 32;  // instructions looked ahead

/// Whether a number that is passed to an allocator may say how many objects of `size` bytes, or how many
/// bytes of them: nullopt where nothing is known of it.
std::optional<bool> isSizeOf(const AbstractValue& number, uint64_t size, uint64_t bytes) {
  const auto offset = static_cast<uint64_t>(number.offset);
  if (number.isOpen()) return offset == 0 ? std::nullopt : std::optional(false);
  if (number.kind != AbstractValue::Kind::constant) return std::nullopt;
  if (number.stride == 0) return offset == bytes || offset == size;
  if (number.stride == 1 && offset == 0) return std::nullopt;
  return number.stride % size == 0 && offset % size == 0;
}

/// Whether a block of `bytes` is one of whole objects behind `head` bytes that an array of them keeps.
bool isCookie(const types::TypeTable& table, types::TypeId type, uint64_t head, uint64_t bytes) {
  const uint64_t size = table.sizeOf(type).value_or(0);
  return types::isAggregate(table.kind(table.strip(type))) && size != 0 &&
         head == layouts::arrayCookie(table, type) && bytes > head && (bytes - head) % size == 0;
}

}  // namespace

/// The type of what is in a register before a step, by what it or a copy of it becomes: a variable, an
/// argument; `deep`: also a pointer in memory or the result, by way of slots and jumps. `kept` (may be null):
/// as Allocated::kept.
AbstractValue TypePropagation::Impl::inferBackward(size_t step, uint8_t reg, bool deep, bool* kept) {
  uint32_t same = 1u << reg;  // registers that hold the value
  std::set<int64_t> slots;    // of the frame, that hold it
  const auto holds = [&same](uint8_t other) { return other != kRegNone && ((same >> other) & 1) != 0; };
  // gcc lets the cookie of an array be the variable that its number came from, ahead of the elements.
  const auto isBehind = [this](const RegisterFact& fact) {
    const auto size = facts.table().sizeOf(fact.pointee);
    return size && fact.offset >= static_cast<int64_t>(*size);
  };
  for (size_t i = step, left = kFarthestUse; i < steps.size() && left != 0; i++, left--) {
    if (same == 0 && slots.empty()) break;
    const decode::Step& here = steps[i];
    const auto& known = facts.registers();
    auto fact = std::lower_bound(known.begin(), known.end(), here.address,
                                 [](const RegisterFact& entry, uint64_t at) { return entry.low < at; });
    for (; fact != known.end() && fact->low == here.address; ++fact)
      if (holds(fact->reg) && !(deep && isBehind(*fact)))
        return {AbstractValue::Kind::pointer, 0, fact->pointee, fact->offset};
    if (here.kind == decode::Step::Kind::call) {
      const auto& parameters = facts.callee(here.address + here.length, here.destination).parameters;
      for (size_t k = 0; k < std::min(parameters.size(), std::size(kArguments)); k++)
        if (holds(kArguments[k]) && parameters[k] != kNoType)
          return {AbstractValue::Kind::pointer, 0, parameters[k], 0};
    }
    bool copies = here.kind == decode::Step::Kind::copy && holds(here.source);
    const bool stores = here.kind == decode::Step::Kind::store;
    if (deep && (stores ? holds(here.source) || !slots.empty()
                        : here.kind == decode::Step::Kind::load && !slots.empty())) {
      const PropagationState now = replay(flow.blockOf(i), i);
      const AbstractValue address = addressOf(here.memory, here.address, now);
      const bool isSlot = address.kind == AbstractValue::Kind::frame && address.stride == 0;
      if (!stores) copies = isSlot && slots.contains(address.offset);
      if (stores && isSlot)
        std::erase_if(slots, [&](int64_t slot) {  // as PropagationState::forget()
          const auto ahead = static_cast<uint64_t>(slot) - static_cast<uint64_t>(address.offset);
          return ahead < here.width || 0 - ahead < sizeof(uint64_t);
        });
      if (stores && holds(here.source)) {
        if (kept != nullptr) *kept |= !isSlot;
        const auto stored = place(resolved(address, here.width, false, nullptr), here.address);
        const types::TypeId pointee =
            stored ? types::pointeeAt(facts.table(), stored->type, stored->offset) : kNoType;
        if (pointee != kNoType) return {AbstractValue::Kind::pointer, 0, pointee, 0};
        if (isSlot && here.width == sizeof(uint64_t)) slots.insert(address.offset);
      }
    }
    const bool keepsMost = here.kind == decode::Step::Kind::call && here.memory.base == kRegAx &&
                           !byDescriptor(here, replay(flow.blockOf(i), i)).isOpen();
    same = (same & ~(keepsMost ? kByDescriptor : here.written)) | (copies ? 1u << here.target : 0);
    if (here.flow == decode::Step::Flow::ends && deep && holds(kRegAx) &&
        here.kind != decode::Step::Kind::jumpThrough) {
      if (kept != nullptr) *kept = false;
      return {AbstractValue::Kind::pointer, 0, facts.returned(), 0};
    }
    if (here.flow != decode::Step::Flow::jump && here.flow != decode::Step::Flow::ends) continue;
    const size_t to = deep ? flow.stepAt(here.destination) : steps.size();
    if (to == steps.size()) break;
    i = to - 1;  // wraps where it is the first
  }
  return {};
}

/// What a block becomes whose address is in rax before a step, where it is that of an array behind a cookie.
/// `kept`: of the address itself.
TypePropagation::Allocated TypePropagation::Impl::behindCookie(size_t step, uint64_t bytes, bool kept) {
  uint32_t same = 1u << kRegAx;
  const auto holds = [&same](uint8_t reg) { return reg != kRegNone && ((same >> reg) & 1) != 0; };
  for (size_t i = step, left = kFarthestUse; i < steps.size() && left != 0; i++, left--) {
    const decode::Step& here = steps[i];
    const bool leads = here.kind == decode::Step::Kind::address && holds(here.memory.base) &&
                       here.memory.index == kRegNone && !here.memory.thread;
    const auto head = static_cast<uint64_t>(here.memory.displacement);
    if (std::has_single_bit(head) &&
        (leads || (here.kind == decode::Step::Kind::add && holds(here.target)))) {
      bool its = false;
      const AbstractValue used = inferBackward(i + 1, here.target, true, &its);
      if (used.offset == 0 && isCookie(facts.table(), used.type, head, bytes))
        return {used.type, true, its, head};
    }
    const bool copies = here.kind == decode::Step::Kind::copy && holds(here.source);
    same = (same & ~here.written) | (copies ? 1u << here.target : 0);
    if (same == 0) break;
    if (here.flow != decode::Step::Flow::jump && here.flow != decode::Step::Flow::ends) continue;
    const size_t to = flow.stepAt(here.destination);
    if (to == steps.size()) break;
    i = to - 1;
  }
  return {kNoType, false, kept};
}

TypePropagation::Allocated TypePropagation::allocatedBy(uint64_t after, uint64_t bytes) {
  const auto& steps = impl_->steps;
  const auto next = std::lower_bound(steps.begin(), steps.end(), after,
                                     [](const decode::Step& step, uint64_t at) { return step.address < at; });
  if (next == steps.begin()) return {};
  const auto call = static_cast<size_t>(next - steps.begin()) - 1;
  if (steps[call].kind != decode::Step::Kind::call || steps[call].address + steps[call].length != after)
    return {};
  bool kept = false;
  const AbstractValue used =
      next != steps.end() ? impl_->inferBackward(call + 1, kRegAx, true, &kept) : AbstractValue{};
  if (used.type == kNoType) return impl_->behindCookie(call + 1, bytes, kept);
  const uint64_t size = impl_->facts.table().sizeOf(used.type).value_or(0);
  if (const auto head = 0 - static_cast<uint64_t>(used.offset);
      isCookie(impl_->facts.table(), used.type, head, bytes))
    return {used.type, true, kept, head};
  if (used.offset != 0 || size == 0) return {kNoType, false, kept};
  const PropagationState now = impl_->replay(impl_->flow.blockOf(call), call);
  Allocated allocated{used.type, true, kept};
  for (const uint8_t reg : {kRegDi, kRegSi}) {
    const auto says = isSizeOf(now.registers[reg], size, bytes);
    if (says == true) return {used.type, true, kept};
    if (says == false) allocated.fits = false;
  }
  return allocated;
}

}  // namespace cacheline::inference
