// Frame after frame, as DWARF 5, 6.4.4 says it.
#include "analysis/unwinder.h"

#include <cstring>
#include <optional>

namespace cacheline::analysis {

namespace {

using inference::FrameRules;

/// A piece of a thread's memory.
struct StackPiece {
  uint64_t begin = 0;
  std::span<const uint8_t> bytes;
  std::optional<uint64_t> wordAt(uint64_t address) const {
    uint64_t word = 0;
    const uint64_t offset = address - begin;
    if (address < begin || bytes.size() < sizeof word || offset > bytes.size() - sizeof word)
      return std::nullopt;
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    return word;
  }
};

inference::Place placeOf(const inference::Expression& place, const inference::LocationContext& context) {
  inference::Places places;
  inference::evaluate(place, context, places);
  return places.count == 1 ? places.piece[0] : inference::Place();
}

/// The CFA's rule gives an address as the place itself.
std::optional<uint64_t> cfaOf(const FrameRules& rules, const inference::LocationContext& context) {
  const inference::Place found = placeOf(rules.cfa, context);
  if (found.kind == inference::Place::Kind::unknown) return std::nullopt;
  return found.number;
}

std::optional<uint64_t> valueOf(const inference::Place& found, const StackPiece& stack) {
  if (found.kind == inference::Place::Kind::memory) return stack.wordAt(found.number);
  if (found.kind == inference::Place::Kind::value) return found.number;
  return std::nullopt;
}

}  // namespace

Unwinder::Found Unwinder::find(const AddressSpace& space, uint64_t address) {
  const Mapping* code = space.find(address, space.codeHint);
  const uint32_t binary = code == nullptr ? kNone : backings_.of(code->backing);
  uint64_t elfAddress = 0;
  if (binary == kNone || binaries_.codeImage(binary) == nullptr ||
      !binaries_.elfAddress(binary, code->fileOffset(address), elfAddress))
    return {};
  if (frames_.size() <= binary) frames_.resize(binary + size_t{1});
  if (!frames_[binary]) frames_[binary] = std::make_unique<inference::CallFrames>(binaries_.module(binary));
  return {frames_[binary]->rulesAt(elfAddress), address - elfAddress};
}

void Unwinder::unwind(const AddressSpace& space, uint64_t ip, Registers registers,
                      std::span<const uint8_t> bytes, size_t most, std::vector<uint64_t>& addresses) {
  const StackPiece stack{registers.value[kRegSp], bytes};
  for (uint64_t at = ip; addresses.size() < most; at = addresses.back() - 1) {
    const auto [rules, loadBias] = find(space, at);
    if (rules == nullptr || rules->returnAddress.kind != FrameRules::Rule::Kind::place) return;
    inference::LocationContext context;
    registers.value[kRegIp] = at;
    context.registers = &registers;
    context.cfa = &rules->cfa;
    context.loadBias = loadBias;
    const auto cfa = cfaOf(*rules, context);
    // A caller's frame is above the own one: nothing goes round in circles.
    if (!cfa || *cfa <= registers.value[kRegSp]) return;
    const auto returnAddress = valueOf(placeOf(rules->returnAddress.place, context), stack);
    if (!returnAddress) return;
    const Mapping* caller = space.find(*returnAddress - 1, space.codeHint);
    if (caller == nullptr || !caller->code) return;
    Registers outer = registers;
    for (size_t i = 0; i < rules->preserved.size(); ++i) {
      const FrameRules::Rule& rule = rules->preserved[i];
      const uint8_t reg = FrameRules::kPreserved[i];
      if (rule.kind == FrameRules::Rule::Kind::same) continue;
      std::optional<uint64_t> value;
      if (rule.kind == FrameRules::Rule::Kind::place) {
        const inference::Place place = placeOf(rule.place, context);
        // Compilers do not say that an epilogue has popped it: it is back in its register.
        if (place.kind == inference::Place::Kind::memory && place.number < registers.value[kRegSp]) continue;
        value = valueOf(place, stack);
      }
      outer.value[reg] = value.value_or(0);
      if (!value) outer.mask &= ~(uint64_t{1} << reg);
    }
    registers = outer;
    registers.value[kRegSp] = *cfa;
    addresses.push_back(*returnAddress);
  }
}

FrameChain Unwinder::frameChainAt(const AddressSpace& space, uint64_t ip) {
  const inference::FrameRules* rules = find(space, ip).rules;
  if (rules == nullptr) return FrameChain::whole;
  const auto linear = inference::linearForm(rules->cfa, nullptr, nullptr);
  if (!linear || linear->reg != kRegSp) return FrameChain::whole;
  static_assert(FrameRules::kPreserved[1] == kRegBp);
  const FrameRules::Rule& saved = rules->preserved[1];
  if (saved.kind == FrameRules::Rule::Kind::same) return FrameChain::lacksInnermost;
  if (saved.kind != FrameRules::Rule::Kind::place) return FrameChain::broken;
  // Below the stack pointer: popped again, as in unwind().
  const auto place = inference::linearForm(saved.place, nullptr, &rules->cfa);
  return place && place->inMemory && place->reg == kRegSp && place->offset < 0 ? FrameChain::lacksInnermost
                                                                               : FrameChain::broken;
}

}  // namespace cacheline::analysis
