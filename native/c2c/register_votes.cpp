// Registers of memory samples, checked against the address that the hardware gave.
#include "c2c/register_votes.h"

#include <linux/perf_event.h>

#include <algorithm>

#include "analysis/attribution.h"
#include "decode/instruction.h"

namespace cacheline::c2c {

const RegisterVotes::Site& RegisterVotes::siteOf(uint32_t index) {
  if (sites_.size() <= index) sites_.resize(index + size_t{1});
  Site& site = sites_[index];
  if (!site.known) describe(places_.site(index), site);
  return site;
}

void RegisterVotes::describe(const CodeSite& code, Site& site) {
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

void RegisterVotes::add(const perfdata::Sample& sample, uint32_t index, analysis::Position position,
                        uint32_t samples) {
  const Site& site = siteOf(index);
  if (!site.usable || sample.registersAbi != PERF_SAMPLE_REGS_ABI_64) return;
  analysis::ObjectVotes::Ballot ballot;
  ballot.slide = sample.ip - site.sampled;
  ballot.width = site.plan.operand.width;
  uint64_t start = 0;
  if (site.checkable && decode::effectiveAddress(site.plan, sample.registers, ballot.slide, start)) {
    const uint64_t ahead = sample.address - start;
    if (ahead >= std::max(site.plan.operand.width, 1u)) return;
    ballot.width -= std::min(ballot.width, static_cast<uint32_t>(ahead));
  }
  ballot.position = position;
  ballot.address = sample.address;
  ballot.time = sample.time;
  ballot.site = index;
  ballot.binary = site.binary;
  ballot.access = site.plan.codeAddress;
  ballot.ip = site.ip;
  ballot.registers = &sample.registers;
  ballot.samples = samples;
  votes_.add(ballot);
}

}  // namespace cacheline::c2c
