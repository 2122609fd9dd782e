// Sampled instructions.
#include "sharing/code.h"

#include <algorithm>

#include "decode/instruction.h"

namespace cacheline::sharing {

const Code::Entry& Code::entry(uint32_t index) {
  if (entries_.size() <= index) entries_.resize(index + 1);
  Entry& entry = entries_[index];
  if (entry.known) return entry;
  entry.known = true;
  const SampledCode& location = collector_.places.location(index);
  if (location.kernel) {
    const analysis::KernelPlace place = collector_.kernel->place(location.address);
    entry.binary = place.binary;
    entry.elfAddress = place.elfAddress;
  } else if (location.backing != analysis::kNone) {
    entry.binary = binaryOf(location.backing);
  }
  if (entry.binary == analysis::kNone) return entry;
  if (!location.kernel &&
      !collector_.binaries.elfAddress(entry.binary, location.fileOffset, entry.elfAddress))
    return entry;
  entry.facts = factsOf(location, entry);
  const symbols::ElfImage* image = collector_.binaries.codeImage(entry.binary);
  const symbols::Symbol* symbol = image == nullptr ? nullptr : image->functionAt(entry.elfAddress);
  entry.function = symbol == nullptr ? entry.elfAddress : symbol->address;
  return entry;
}

uint32_t Code::binaryOf(uint32_t backing) {
  const auto [known, isNew] = binaries_.try_emplace(backing, analysis::kNone);
  if (isNew) known.value() = collector_.binaries.of(collector_.timeline.backing(backing));
  return known->second;
}

CodeFacts Code::factsOf(const SampledCode& location, const Entry& entry) {
  CodeFacts facts;
  if (!location.exact) return facts;  // the access may be the instruction before
  const symbols::ElfImage* image = collector_.binaries.codeImage(entry.binary);
  decode::Instruction instruction;
  if (image == nullptr ||
      !decode::decodeInstruction(image->bytesAt(entry.elfAddress, decode::kLongestInstruction),
                                 entry.elfAddress, instruction) ||
      !instruction.accesses ||
      (instruction.failure != decode::Failure::none &&
       instruction.segment == decode::Instruction::Segment::none))
    return facts;
  const decode::MemoryOperand& operand = instruction.operand;
  facts.width = operand.width;
  facts.reads = operand.kind != decode::AccessKind::write;
  constexpr uint64_t kBehind = 128;  // bytes
  facts.companions = decode::companionsOf(image->bytesAt(entry.elfAddress, kBehind), entry.elfAddress,
                                          entry.elfAddress, entry.elfAddress);
  facts.writes =
      operand.kind != decode::AccessKind::read ||
      std::ranges::any_of(facts.companions, [](const auto& each) { return each.delta == 0 && each.writes; });
  facts.locked = operand.locked;
  facts.swaps = operand.swaps;
  facts.adds = operand.adds;
  if (operand.locked) {
    if (sweeps_.size() <= entry.binary) sweeps_.resize(entry.binary + size_t{1});
    facts.lock = analysis::lockStepAt(*image, entry.elfAddress, sweeps_[entry.binary]);
  }
  const bool constant = operand.base == kRegNone && operand.index == kRegNone;
  facts.fixed = constant && instruction.segment == decode::Instruction::Segment::none;
  if (location.kernel && constant && instruction.segment == decode::Instruction::Segment::gs)
    facts.perCpu = static_cast<uint64_t>(operand.displacement);
  return facts;
}

analysis::SharedName Code::name(uint32_t index) {
  const SampledCode& location = collector_.places.location(index);
  if (location.kernel) return collector_.kernel->code(location.address);
  const Entry& code = entry(index);
  if (code.elfAddress != 0) return names_.at(code.binary, code.elfAddress);
  if (code.binary != analysis::kNone || location.backing == analysis::kNone)
    return names_.atOffset(code.binary, location.fileOffset);
  analysis::SharedName& known = unbacked_[location.backing];
  if (known) return known;
  analysis::CodeName name;
  name.object = collector_.timeline.backing(location.backing).name;
  name.why = analysis::Unnamed::generated;
  return known = std::make_shared<const analysis::CodeName>(std::move(name));
}

}  // namespace cacheline::sharing
