// Registers of memory samples, checked against the address that the hardware gave.
#include "sharing/register_evidence.h"

#include <linux/perf_event.h>

#include <algorithm>

#include "analysis/attribution.h"
#include "decode/instruction.h"

namespace cacheline::sharing {

const RegisterEvidence::Location& RegisterEvidence::locationOf(uint32_t index) {
  if (locations_.size() <= index) locations_.resize(index + size_t{1});
  Location& location = locations_[index];
  if (!location.known) describe(places_.location(index), location);
  return location;
}

void RegisterEvidence::describe(const SampledCode& code, Location& location) {
  location.known = true;
  if (code.kernel) {
    const analysis::KernelPlace place = kernel_.place(code.address);
    location.binary = place.binary;
    location.sampled = place.elfAddress;
  } else if (code.backing != analysis::kNone) {
    location.binary = binaries_.of(timeline_.backing(code.backing));
  }
  if (location.binary == analysis::kNone) return;
  const symbols::ElfImage* image = binaries_.codeImage(location.binary);
  if (image == nullptr) return;
  if (!code.kernel && !binaries_.elfAddress(location.binary, code.fileOffset, location.sampled)) return;
  // The plan of the place behind the access undoes what can be undone of its own register updates.
  location.ip = location.sampled;
  if (code.exact) {
    const auto bytes = image->bytesAt(location.sampled, decode::kLongestInstruction);
    decode::Flow flow;
    decode::Instruction instruction;
    if (!decode::decodeFlow(bytes, flow) || flow.endsBlock ||  // what follows is elsewhere
        !decode::decodeInstruction(bytes, location.sampled, instruction) || !instruction.accesses)
      return;
    location.ip += instruction.length;
    location.plan.codeAddress = location.sampled;
    location.plan.operand = instruction.operand;
    location.usable = true;
  }
  decode::AccessPlan plan = analysis::planAt(*image, location.ip);
  location.checkable =
      plan.failure == decode::Failure::none && (!code.exact || plan.codeAddress == location.sampled);
  if (!location.checkable) return;
  location.plan = std::move(plan);
  location.usable = true;
}

void RegisterEvidence::add(const perfdata::Sample& sample, uint32_t index, analysis::Position position,
                           uint32_t samples) {
  const Location& location = locationOf(index);
  if (!location.usable || sample.registersAbi != PERF_SAMPLE_REGS_ABI_64) return;
  analysis::ObjectEvidence::Observation observed;
  observed.loadBias = sample.ip - location.sampled;
  observed.width = location.plan.operand.width;
  uint64_t start = 0;
  if (location.checkable &&
      decode::effectiveAddress(location.plan, sample.registers, observed.loadBias, start)) {
    const uint64_t ahead = sample.address - start;
    if (ahead >= std::max(location.plan.operand.width, 1u)) return;
    observed.width -= std::min(observed.width, static_cast<uint32_t>(ahead));
  }
  observed.position = position;
  observed.address = sample.address;
  observed.time = sample.time;
  observed.location = index;
  observed.binary = location.binary;
  observed.access = location.plan.codeAddress;
  observed.ip = location.ip;
  observed.registers = &sample.registers;
  observed.samples = samples;
  evidence_.add(observed);
}

}  // namespace cacheline::sharing
