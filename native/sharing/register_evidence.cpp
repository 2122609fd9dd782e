// Registers of memory samples, checked against the address that the hardware gave.
#include "sharing/register_evidence.h"

#include <linux/perf_event.h>

#include <algorithm>

#include "analysis/attribution.h"
#include "decode/instruction.h"

namespace cacheline::sharing {

const RegisterEvidence::Location& RegisterEvidence::siteOf(uint32_t index) {
  if (sites_.size() <= index) sites_.resize(index + size_t{1});
  Location& site = sites_[index];
  if (!site.known) describe(places_.site(index), site);
  return site;
}

void RegisterEvidence::describe(const CodeLocation& code, Location& site) {
  site.known = true;
  if (code.kernel) {
    const analysis::KernelPlace place = kernel_.place(code.address);
    site.binary = place.binary;
    site.sampled = place.elfAddress;
  } else if (code.backing != analysis::kNone) {
    site.binary = binaries_.of(timeline_.backing(code.backing));
  }
  if (site.binary == analysis::kNone) return;
  const symbols::ElfImage* image = binaries_.codeImage(site.binary);
  if (image == nullptr) return;
  if (!code.kernel && !binaries_.elfAddress(site.binary, code.fileOffset, site.sampled)) return;
  // The plan of the place behind the access undoes what can be undone of its own register updates.
  site.ip = site.sampled;
  if (code.exact) {
    const auto bytes = image->bytesAt(site.sampled, decode::kLongestInstruction);
    decode::Flow flow;
    decode::Instruction instruction;
    if (!decode::decodeFlow(bytes, flow) || flow.endsBlock ||  // what follows is elsewhere
        !decode::decodeInstruction(bytes, site.sampled, instruction) || !instruction.accesses)
      return;
    site.ip += instruction.length;
    site.plan.codeAddress = site.sampled;
    site.plan.operand = instruction.operand;
    site.usable = true;
  }
  decode::AccessPlan plan = analysis::planAt(*image, site.ip);
  site.checkable = plan.failure == decode::Failure::none && (!code.exact || plan.codeAddress == site.sampled);
  if (!site.checkable) return;
  site.plan = std::move(plan);
  site.usable = true;
}

void RegisterEvidence::add(const perfdata::Sample& sample, uint32_t index, analysis::Position position,
                           uint32_t samples) {
  const Location& site = siteOf(index);
  if (!site.usable || sample.registersAbi != PERF_SAMPLE_REGS_ABI_64) return;
  analysis::ObjectEvidence::Observation observed;
  observed.loadBias = sample.ip - site.sampled;
  observed.width = site.plan.operand.width;
  uint64_t start = 0;
  if (site.checkable && decode::effectiveAddress(site.plan, sample.registers, observed.loadBias, start)) {
    const uint64_t ahead = sample.address - start;
    if (ahead >= std::max(site.plan.operand.width, 1u)) return;
    observed.width -= std::min(observed.width, static_cast<uint32_t>(ahead));
  }
  observed.position = position;
  observed.address = sample.address;
  observed.time = sample.time;
  observed.site = index;
  observed.binary = site.binary;
  observed.access = site.plan.codeAddress;
  observed.ip = site.ip;
  observed.registers = &sample.registers;
  observed.samples = samples;
  votes_.add(observed);
}

}  // namespace cacheline::sharing
