// Samples to counts. No allocation for a sample whose line, thread and code were seen before.
#include "analysis/collector.h"

#include <algorithm>

namespace cacheline::analysis {

namespace {

/// A table's lines have a power of two of bytes.
uint32_t tableLine(const Meta& meta, const AnalyzeOptions& options) {
  if (!options.doubleLine) return meta.lineSize;
  checkPairs(meta.lineSize);
  return 2 * meta.lineSize;
}

}  // namespace

Collector::Collector(const perfdata::Features& features, const Meta& meta, const Timeline& known,
                     const SeenCode& seen, const AnalyzeOptions& options,
                     const heap::Allocations* allocations, const WatchLog* watched)
    : timeline(known),
      binaries(features, meta, options.symbols),
      sites(binaries, timeline, seen),
      table(tableLine(meta, options)),
      visitors(seen, binaries),
      blocks(allocations, timeline, binaries),
      filter_(options.filter) {
  if (watched != nullptr)
    watch.emplace(*watched, timeline, threads, lineSpaces, binaries, names, table.lineSize());
}

void Collector::onSample(const perfdata::Sample& sample) {
  if (!filter_.keeps(sample, isKernel(sample))) {
    ++filtered;
    return;
  }
  // Times of a damaged file may go back; runs must not.
  if (samples == 0) firstTime = lastTime = sample.time;
  lastTime = std::max(lastTime, sample.time);
  ++samples;
  if (uint64_t* reason = attribute(sample))
    ++*reason;
  else
    ++attributed;
}

void Collector::vote(const MemoryAccess& access, const CodeLocation& site, const Mapping& code,
                     const perfdata::Sample& sample) {
  ObjectEvidence::Observation observed;
  observed.position = access.position;
  observed.address = access.address;
  observed.time = access.time;
  observed.site = access.site;
  observed.binary = site.binary;
  observed.access = site.plan.codeAddress;
  observed.ip = code.fileOffset(sample.ip) + site.elfMinusFile;
  observed.loadBias = sample.ip - observed.ip;
  observed.width = site.plan.operand.width;
  observed.registers = &sample.registers;
  votes.add(observed);
}

uint64_t* Collector::attribute(const perfdata::Sample& sample) {
  if (isKernel(sample)) return &unattributed.kernel;
  if (sample.registers.mask == 0) {
    unseen.withoutRegisters();
    return &unattributed.noInstruction;
  }
  const AddressSpace& space = spaces_.at(sample.pid, sample.moment);
  const uint32_t thread = threads.index(sample.pid, sample.tid);
  stacks.seen(space, thread, sample.moment, sample.registers);
  const Mapping* code = space.find(sample.ip, space.codeHint);
  const uint32_t site = code == nullptr ? kNone : sites.siteOf(*code, sample);
  if (site == kNone) {
    unseen.withoutFile(space, code);
    return &unattributed.noInstruction;
  }
  const CodeLocation& known = sites[site];
  switch (known.plan.failure) {
    case decode::Failure::none:
      break;
    case decode::Failure::noInstruction:
      unseen.at(UnseenReason::noInstruction, site);
      return &unattributed.noInstruction;
    case decode::Failure::noMemoryOperand:
      return &unattributed.noMemoryOperand;
    case decode::Failure::clobbered:
      unseen.at(UnseenReason::clobbered, site);
      return &unattributed.clobbered;
    case decode::Failure::threadLocal:
      return &unattributed.threadLocal;
  }
  uint64_t address = 0;
  if (!sites.address(known, *code, sample.ip, sample.registers, address)) {
    unseen.at(UnseenReason::clobbered, site);
    return &unattributed.clobbered;
  }
  const Mapping* data = space.find(address, space.dataHint);
  if (data == nullptr && !isMainStack(space, address, sample.registers)) {
    unseen.at(UnseenReason::unmapped, site);
    return &unattributed.unmapped;
  }

  const bool isGo = names.isGo(space);
  const bool stack = data == nullptr || (isOwnStack(*data, address, sample.registers) && !isGo);
  const decode::MemoryOperand& operand = known.plan.operand;
  MemoryAccess access;
  access.position = lineSpaces.locate(space, data, address);
  access.address = address;
  access.time = lastTime;
  access.visitor = isGo ? visitors.of(thread, space, known.binary, sample) : thread;
  access.actor = visitors.actor(access.visitor);
  access.site = site;
  access.cpu = sample.cpu;
  bool created = false;
  LineEntry& line = table.add(access, created);
  if (created) {
    line.region = names.regionOf(space, data, line.address);
    line.named = names.isNamed(line.region, line.address, table.lineSize());
  }
  line.stack |= stack;
  if (callers) callers->add(space, access.position, known, sample, isGo);
  line.go |= isGo;

  if (!line.named) {
    vote(access, known, *code, sample);
    blocks.add(space, access.position, access.address, access.time, access.site);
  }

  const uint64_t lineSize = table.lineSize();
  const uint64_t rest = lineSize - access.position.offset % lineSize;
  if (operand.width > rest && (data == nullptr || address + rest < data->end)) {
    access.position.offset += rest;
    access.address += rest;
    const auto reached = static_cast<uint32_t>(operand.width - rest);
    LineEntry& next = table.reach(access, reached, created);
    if (created) next.region = names.regionOf(space, data, next.address);
    next.stack |= stack;
  }

  if (operand.kind == decode::AccessKind::read)
    ++loads;
  else
    ++stores;
  if (operand.locked) ++locked;
  return nullptr;
}

}  // namespace cacheline::analysis
