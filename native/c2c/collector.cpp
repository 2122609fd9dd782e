// Memory samples to touches.
#include "c2c/collector.h"

#include <linux/perf_event.h>

#include <algorithm>

namespace cacheline::c2c {

namespace {

constexpr uint32_t kHighestCpu = 65535;

bool isKernelMode(uint16_t misc) {
  switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
    case PERF_RECORD_MISC_KERNEL:
    case PERF_RECORD_MISC_HYPERVISOR:
    case PERF_RECORD_MISC_GUEST_KERNEL:
      return true;
    default:
      return false;
  }
}

bool inList(const std::vector<uint32_t>& list, uint32_t number) {
  return list.empty() || std::find(list.begin(), list.end(), number) != list.end();
}

}  // namespace

Collector::Collector(const perfdata::Features& features, const analysis::Meta& meta, const Options& options,
                     uint32_t lineSize, symbols::SymbolSearch* search)
    : binaries(features, meta, options.symbols),
      kernel(
          std::make_unique<analysis::KernelCode>(features, search == nullptr ? binaries.search() : *search)),
      cpuNodes(features.numaNodes),
      memoryNodes(features.memoryNodes),
      table(lineSize),
      options_(options),
      filters_(options.filter.any()) {}

void Collector::onMmap(const perfdata::Mmap& record) {
  if (record.kernel) {
    places.onKernelMmap(record);
    kernel->onMmap(record);
  } else {
    spaces.onMmap(record);
  }
}

bool Collector::wanted(const perfdata::Sample& sample, bool kernelMode) {
  const Filter& filter = options_.filter;
  if (filter.mode != Filter::Mode::all && (filter.mode == Filter::Mode::kernel) != kernelMode) return false;
  const double seconds = static_cast<double>(sample.time - std::min(sample.time, firstTime)) / 1e9;
  return seconds >= filter.from && seconds <= filter.to && inList(filter.pids, sample.pid) &&
         inList(filter.tids, sample.tid) && inList(filter.cpus, sample.cpu);
}

uint32_t Collector::groupOf(const perfdata::Sample& sample, uint32_t site) {
  const Coalesce& by = options_.coalesce;
  if (by.onlyCode()) return site;
  GroupKey key;
  if (by.iaddr) key.ip = places.site(site).address;
  if (by.pid) key.pid = sample.pid;
  if (by.tid) key.tid = sample.tid;
  if (by.dso) key.dso = places.site(site).backing;
  return groups_.try_emplace(key, static_cast<uint32_t>(groups_.size())).first->second;
}

void Collector::addCallers(const perfdata::Sample& sample, const analysis::AddressSpace& space, uint32_t site,
                           bool hitm) {
  frames_.clear();
  bool kernelFrames = false, first = true;
  for (const uint64_t ip : sample.callchain) {
    if (ip >= static_cast<uint64_t>(PERF_CONTEXT_MAX)) {  // a marker: whose frames follow
      kernelFrames = ip == static_cast<uint64_t>(PERF_CONTEXT_KERNEL);
      continue;
    }
    if (first) {  // the sampled instruction itself
      first = false;
      continue;
    }
    if (frames_.size() == CallerTable::kMaxFrames) break;
    bool mapped = false;
    // A return address: the call is before it, maybe on another line.
    frames_.push_back(places.codeAt(space, ip - 1, kernelFrames, false, mapped));
  }
  if (!frames_.empty()) callers.add(site, frames_, hitm);
}

void Collector::onSample(const perfdata::Sample& sample) {
  // Times of a damaged file may go back; runs must not.
  if (!started_) firstTime = lastTime = sample.time;
  started_ = true;
  lastTime = std::max(lastTime, sample.time);
  const bool kernelMode = isKernelMode(sample.misc);
  if (filters_ && !wanted(sample, kernelMode)) {
    ++filtered;
    return;
  }

  const Running& now = running(sample);
  bool codeMapped = false;
  const bool exact = (sample.misc & PERF_RECORD_MISC_EXACT_IP) != 0;
  const uint32_t site = places.codeAt(*now.space, sample.ip, kernelMode, exact, codeMapped);
  const DataPage& page = places.dataAt(*now.space, sample.address, kernelMode);
  const uint32_t index = classes.of(sample.dataSource, sample.address != 0, codeMapped && page.mapped);
  if (index >= byClass_.size()) byClass_.resize(index + 1);
  ++byClass_[index];
  const SourceClass& source = classes[index];
  if (!source.access) return;
  ++attributed;

  Touch touch;
  touch.offset = sample.address + page.delta;
  touch.address = sample.address;
  touch.time = lastTime;
  touch.physical = sample.physicalAddress;
  touch.cycles = sample.weight;
  touch.space = page.space;
  touch.region = page.region;
  touch.group = groupOf(sample, site);
  touch.site = site;
  touch.thread = now.thread;
  touch.source = &source;
  touch.cpu = sample.cpu <= kHighestCpu ? sample.cpu : kNone;
  if (touch.cpu >= nodeOfCpu_.size() && touch.cpu != kNone) {
    for (auto cpu = static_cast<uint32_t>(nodeOfCpu_.size()); cpu <= touch.cpu; ++cpu)
      nodeOfCpu_.push_back(static_cast<uint16_t>(cpuNodes.of(cpu).value_or(Touch::kNoNode)));
  }
  touch.node = touch.cpu == kNone ? Touch::kNoNode : nodeOfCpu_[touch.cpu];
  if (touch.physical != 0) {
    ++withPhysical;
    touch.memoryNode = memoryNodes.of(touch.physical).value_or(Touch::kNoNode);
  }
  withCycles += touch.cycles != 0;
  withPeer += (source.at(Counter::localPeer) | source.at(Counter::remotePeer)) != 0;
  if (options_.callers && !sample.callchain.empty())
    addCallers(sample, *now.space, site,
               (source.at(Counter::localHitm) | source.at(Counter::remoteHitm)) != 0);
  table.add(touch);
}

void Collector::append(Collector& later) {
  Renumbering numbers;
  for (uint32_t i = 0; i < later.lineSpaces.size(); ++i)
    numbers.spaces.push_back(lineSpaces.adopt(later.lineSpaces[i]));
  for (uint32_t i = 0; i < later.names.size(); ++i)
    numbers.regions.push_back(names.adopt(later.names, later.spaces, i, spaces));
  for (uint32_t i = 0; i < later.threads.size(); ++i)
    numbers.threads.push_back(threads.adopt(later.threads[i]));
  for (uint32_t i = 0; i < later.places.sites(); ++i) {
    CodeSite site = later.places.site(i);
    if (site.backing != analysis::kNone) site.backing = spaces.intern(later.spaces.backing(site.backing));
    numbers.sites.push_back(places.adopt(site));
  }
  if (options_.coalesce.onlyCode()) {
    numbers.groups = numbers.sites;
  } else {
    numbers.groups.resize(later.groups_.size());
    for (const auto& [key, group] : later.groups_) {
      GroupKey known = key;
      if (options_.coalesce.dso && key.dso != analysis::kNone)
        known.dso = spaces.intern(later.spaces.backing(key.dso));
      numbers.groups[group] = groups_.try_emplace(known, static_cast<uint32_t>(groups_.size())).first->second;
    }
  }
  table.append(later.table, numbers);
  callers.append(later.callers, numbers.sites);
  kernel = std::move(later.kernel);  // it heard of everything
  total.add(later.total);
  attributed += later.attributed;
  filtered += later.filtered;
  lost = later.lost;
  withCycles += later.withCycles;
  withPhysical += later.withPhysical;
  withPeer += later.withPeer;
  lastTime = std::max(lastTime, later.lastTime);
}

void Collector::finish() {
  table.flush();
  for (size_t i = 0; i < byClass_.size(); ++i) total.add(classes[static_cast<uint32_t>(i)], byClass_[i]);
}

}  // namespace cacheline::c2c
