// Clock samples to accesses.
#include "sharing/clock_collector.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <array>

#include "analysis/phases.h"

namespace cacheline::sharing {

using analysis::AddressSpace;
using analysis::Mapping;
using analysis::UnplacedReason;
using analysis::UnseenReason;

namespace {

constexpr size_t kMostWaiting = 8192;  // accesses, on their way into the table
/// Errors of shares stay below 2%; a line of a usual recording has fewer samples, which are all logged.
constexpr size_t kMostLogged = 4096;

SourceClass classOf(bool load, bool locked) {
  SourceClass source;
  source.access = true;
  source.load = load;
  source.store = !load;
  source.locked = locked ? 1 : 0;
  return source;
}

/// Whether all records say their CPUs, and those of no CPU are missing by the recording's command line.
bool tellsWhereThreadsRan(const perfdata::Reader& reader) {
  for (const std::string& word : reader.features().cmdline) {
    if (word == "--") break;  // what follows is the program's
    if (word.starts_with("-C") || word.starts_with("--cpu")) return false;
  }
  return std::ranges::all_of(reader.events(), [](const perfdata::Event& event) {
    return (event.attr.sample_type & PERF_SAMPLE_CPU) != 0;
  });
}

/// As far as the attribute says it, ns.
uint64_t periodOf(const perf_event_attr& attr) {
  constexpr uint64_t kSecond = 1'000'000'000;
  if (attr.freq == 0) return attr.sample_period;
  return attr.sample_freq == 0 ? 0 : kSecond / attr.sample_freq;
}

/// What an access counts as: a sample of the clock says no more than whether it loads or stores.
const SourceClass& sourceOf(const decode::MemoryOperand& operand) {
  static const std::array<SourceClass, 4> kClasses = {classOf(false, false), classOf(false, true),
                                                      classOf(true, false), classOf(true, true)};
  return kClasses[(operand.kind == decode::AccessKind::read ? 2 : 0) + (operand.locked ? 1 : 0)];
}

}  // namespace

ClockCollector::ClockCollector(const Inputs& inputs, const analysis::Timeline& known,
                               const analysis::SeenCode& seen)
    : Collected(inputs.reader.features(), inputs.recording.meta, known, inputs.options, inputs.tableLine,
                inputs.allocations.get(),
                {.most = kMostLogged, .fromStart = true, .splits = inputs.splits, .cores = &cores_}),
      locations(binaries, timeline, seen),
      visitors(seen, binaries),
      filter_(inputs.options.filter),
      cores_(inputs.recording.meta.json),
      switches_(
          std::ranges::any_of(inputs.reader.events(),
                              [](const perfdata::Event& event) { return event.attr.context_switch != 0; })),
      hasCpuFilter_(inputs.options.filter.hasCpus()),
      history_(inputs.options.history),
      accesses_(table.lineSize()) {
  for (const perfdata::Event& event : inputs.reader.events()) periods_.push_back(periodOf(event.attr));
  typed.share();  // no other thread names anything meanwhile
  if (tellsWhereThreadsRan(inputs.reader)) ran_.emplace(timeline, true);
  if (inputs.watched)
    watch.emplace(*inputs.watched, timeline, threads, lineSpaces, binaries, names, table.lineSize());
  if (inputs.options.callers) callers.emplace(binaries, timeline);
  if (inputs.splits) unplaced.emplace(*inputs.splits);
}

void ClockCollector::onSwitch(const perfdata::Switch& record) {
  if (ran_) ran_->follower().onSwitch(record);
}
void ClockCollector::onFork(const perfdata::Task& record) {
  if (ran_ && switches_) ran_->follower().onFork(record);
}
void ClockCollector::onExit(const perfdata::Task& record) {
  if (ran_ && switches_) ran_->follower().onExit(record);
}
void ClockCollector::onComm(const perfdata::Comm& record) {
  if (ran_ && switches_) ran_->follower().onComm(record);
}

void ClockCollector::onSample(const perfdata::Sample& sample) {
  if (ran_ && switches_) ran_->follower().onSample(sample);
  if (!filter_.keeps(sample, analysis::isKernel(sample))) {
    ++filtered;
    return;
  }
  // Times of a damaged file may go back; runs must not.
  if (samples == 0) firstTime = lastTime = sample.time;
  lastTime = std::max(lastTime, sample.time);
  ++samples;
  const uint32_t thread = threads.index(sample.pid, sample.tid);
  if (thread >= samplesOf.size()) samplesOf.resize(thread + size_t{1});
  ++samplesOf[thread];
  if (ran_) ran_->onSample(thread, sample.cpu, lastTime);
  if (phases.size() > 1) {
    samplesOfPhases.resize(samplesOf.size());
    ++samplesOfPhases[thread][analysis::phaseAt(phases, sample.time)];
  }
  uint32_t location = kNone;
  if (const auto reason = attribute(sample, thread, location)) {
    countUnplaced(*reason);
    if (*reason == UnplacedReason::clobbered) addMayWait(thread, location);
    if (unplaced) unplaced->add(*reason, location, thread, sample.cpu, lastTime);
  } else {
    ++attributed;
  }
  if (accesses_.size() >= kMostWaiting) flush();
}

void ClockCollector::addMayWait(uint32_t thread, uint32_t location) {
  if (!history_) return;
  mayWait.resize(samplesOf.size());
  ++mayWait[thread][{analysis::phaseAt(phases, lastTime), location}];
}

void ClockCollector::flush() {
  const AccessLists* const lists = &accesses_;
  table.add({&lists, 1});
  accesses_.clear();
}

void ClockCollector::finish() {
  flush();
  table.finish();
  if (ran_) whereabouts = ran_->take(threads, !hasCpuFilter_, cores_);
}

void ClockCollector::countUnplaced(UnplacedReason reason) {
  switch (reason) {
    case UnplacedReason::kernel:
      ++unattributed.kernel;
      break;
    case UnplacedReason::noInstruction:
      ++unattributed.noInstruction;
      break;
    case UnplacedReason::noMemoryOperand:
      ++unattributed.noMemoryOperand;
      break;
    case UnplacedReason::clobbered:
      ++unattributed.clobbered;
      break;
    case UnplacedReason::threadLocal:
      ++unattributed.threadLocal;
      break;
    case UnplacedReason::unmapped:
      ++unattributed.unmapped;
      break;
  }
}

std::optional<UnplacedReason> ClockCollector::attribute(const perfdata::Sample& sample, uint32_t thread,
                                                        uint32_t& location) {
  if (analysis::isKernel(sample)) return UnplacedReason::kernel;
  if (sample.registers.mask == 0) {
    unseen.withoutRegisters();
    return UnplacedReason::noInstruction;
  }
  const AddressSpace& space = spaces_.at(sample.pid, sample.moment);
  stacks.seen(space, thread, sample.moment, sample.registers);
  const Mapping* code = space.find(sample.ip, space.codeHint);
  location = code == nullptr ? kNone : locations.locationOf(*code, sample);
  if (location == kNone) {
    unseen.withoutFile(space, code);
    return UnplacedReason::noInstruction;
  }
  addStores(sample, space, *code, thread, location);
  const analysis::CodeLocation& known = locations[location];
  switch (known.plan.failure) {
    case decode::Failure::none:
      break;
    case decode::Failure::noInstruction:
      unseen.at(UnseenReason::noInstruction, location);
      return UnplacedReason::noInstruction;
    case decode::Failure::noMemoryOperand:
      return UnplacedReason::noMemoryOperand;
    case decode::Failure::clobbered:
      unseen.at(UnseenReason::clobbered, location);
      return UnplacedReason::clobbered;
    case decode::Failure::threadLocal:
      return UnplacedReason::threadLocal;
  }
  uint64_t address = 0;
  if (!locations.address(known, *code, sample.ip, sample.registers, address)) {
    unseen.at(UnseenReason::clobbered, location);
    return UnplacedReason::clobbered;
  }
  const Mapping* data = space.find(address, space.dataHint);
  if (data == nullptr && !analysis::isMainStack(space, address, sample.registers)) {
    unseen.at(UnseenReason::unmapped, location);
    return UnplacedReason::unmapped;
  }
  const bool isGo = names.isGo(space);
  add({.sample = sample,
       .space = space,
       .code = *code,
       .data = data,
       .address = address,
       .thread = thread,
       .location = location,
       .isGo = isGo,
       .isStack = data == nullptr || (analysis::isOwnStack(*data, address, sample.registers) && !isGo),
       .visitor = isGo ? visitors.of(thread, space, known.binary, sample) : thread});
  return std::nullopt;
}

void ClockCollector::addStores(const perfdata::Sample& sample, const AddressSpace& space, const Mapping& code,
                               uint32_t thread, uint32_t location) {
  constexpr size_t kMostStores = size_t{1} << 20;  // of code that goes through memory each is another one
  const analysis::CodeLocation& known = locations[location];
  if (known.storesAhead.empty() || nextStores_.size() >= kMostStores) return;
  const uint32_t visitor = names.isGo(space) ? visitors.of(thread, space, known.binary, sample) : thread;
  for (const decode::MemoryOperand& operand : known.storesAhead) {
    uint64_t address = 0;
    if (!decode::effectiveAddress(operand, sample.registers, address)) continue;
    if (operand.base == kRegNone && operand.index == kRegNone)
      address += sample.ip - (code.fileOffset(sample.ip) + known.elfMinusFile);
    const Mapping* const data = space.find(address, space.dataHint);
    if (data == nullptr) continue;
    ++nextStores_[{lineSpaces.locate(space, data, address), visitors.actor(visitor)}];
  }
}

uint64_t ClockCollector::storesNext(const Line& line, const Row& row) const {
  constexpr uint64_t kWidest = 8;  // bytes of a store that begins before the place
  uint64_t next = 0;
  const ClockGroup& group = groupOf(row);
  const uint64_t width = std::max(locations[group.location].plan.operand.width, 1u);
  for (uint64_t at = row.offset - (kWidest - 1); at != row.offset + width; ++at)
    if (const auto found = nextStores_.find({{line.space, at}, visitors.actor(group.visitor)});
        found != nextStores_.end())
      next += found->second;
  return next;
}

void ClockCollector::add(const Attributed& found) {
  const analysis::CodeLocation& location = locations[found.location];
  const decode::MemoryOperand& operand = location.plan.operand;
  const uint64_t lineSize = table.lineSize();
  const Placement placed = addPart(found, found.address, 0);
  const analysis::Position position{placed.space, found.address + placed.delta};
  const uint64_t inLine = position.offset % lineSize;
  if (found.isGo) goLines_.try_emplace({position.space, position.offset - inLine});
  if (found.isStack) addMayWait(found.thread, found.location);
  if (callers) callers->add(found.space, position, location, found.sample, found.isGo);
  if (!names.isNamed(placed.region, found.address - inLine, lineSize)) addEvidence(found, position);

  const uint64_t rest = lineSize - inLine;
  if (operand.width > rest && (found.data == nullptr || found.address + rest < found.data->end))
    addPart(found, found.address + rest, static_cast<uint32_t>(operand.width - rest));

  ++(operand.kind == decode::AccessKind::read ? loads : stores);
  if (operand.locked) ++locked;
}

const Placement& ClockCollector::addPart(const Attributed& found, uint64_t address, uint32_t reach) {
  const uint32_t placement = placementOf(found, address);
  const Placement& placed = places.placements()[placement];
  const uint64_t offset = address + placed.delta;
  MemoryAccess& access = accesses_.next(offset, placed.space);
  access.time = lastTime;
  access.physical = 0;
  access.cycles = found.sample.period != 0 || found.sample.event >= periods_.size()
                      ? found.sample.period
                      : periods_[found.sample.event];
  access.source = &sourceOf(locations[found.location].plan.operand);
  access.order = ++order_;
  access.placement = placement;
  access.group = groupIndexOf({found.location, found.visitor, reach, placement});
  access.location = found.location;
  access.actor = visitors.actor(found.visitor);
  access.cpu = static_cast<uint16_t>(std::min<uint32_t>(found.sample.cpu, MemoryAccess::kNoCpu));
  access.node = 0;  // nothing is counted by node
  access.aggregateOnly = 0;
  if (found.isStack) addStackLine({placed.space, offset - offset % table.lineSize()});
  return placed;
}

/// What the code says of data that symbols do not name, and in which block it lies.
void ClockCollector::addEvidence(const Attributed& found, analysis::Position position) {
  const analysis::CodeLocation& location = locations[found.location];
  analysis::ObjectEvidence::Observation observed;
  observed.position = position;
  observed.address = found.address;
  observed.time = lastTime;
  observed.location = found.location;
  observed.binary = location.binary;
  observed.access = location.plan.codeAddress;
  observed.ip = found.code.fileOffset(found.sample.ip) + location.elfMinusFile;
  observed.loadBias = found.sample.ip - observed.ip;
  observed.width = location.plan.operand.width;
  observed.registers = &found.sample.registers;
  objectEvidence.add(observed);
  blocks.add(found.space, position, found.address, lastTime, found.location);
}

uint32_t ClockCollector::placementOf(const Attributed& found, uint64_t address) {
  const Mapping* const data = found.data;
  const uint64_t version = versionOf(found.space);
  if (data != nullptr)
    if (const uint32_t* known = placements_.find(data->start, version)) return *known;
  const analysis::Position position = lineSpaces.locate(found.space, data, address);
  // Of the main stack, which no record tells of, the lowest line that is seen is where it begins.
  const uint64_t lineAddress = address - position.offset % table.lineSize();
  const uint32_t placement = places.intern(
      Placement{position.space, names.regionOf(found.space, data, lineAddress), position.offset - address});
  return data == nullptr ? placement : placements_.add(data->start, version, placement);
}

uint32_t ClockCollector::groupIndexOf(const ClockGroup& group) {
  const auto [known, isNew] = groupIndex_.try_emplace(group, static_cast<uint32_t>(groups_.size()));
  if (isNew) groups_.push_back(group);
  return known->second;
}

}  // namespace cacheline::sharing
