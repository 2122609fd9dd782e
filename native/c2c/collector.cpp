// Memory samples to touches.
#include "c2c/collector.h"

#include <linux/perf_event.h>

#include <algorithm>

#include "c2c/sample_filter.h"

namespace cacheline::c2c {

Collector::Collector(const perfdata::Features& features, const analysis::Meta& meta, const Options& options,
                     uint32_t lineSize)
    : binaries(features, meta, options.symbols),
      kernel(std::make_unique<analysis::KernelCode>(features, binaries)),
      cpuNodes(features.numaNodes),
      memoryNodes(features.memoryNodes),
      table(lineSize, options.threads),
      typed(binaries, options.threads > 1),
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

uint32_t Collector::groupOf(const perfdata::Sample& sample, uint32_t site) {
  const Coalesce& by = options_.coalesce;
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
  if (firstTime == kUnknown) firstTime = sample.time;
  lastTime_ = std::max(lastTime_, sample.time);  // times of a damaged file may go back; runs must not
  const bool kernelMode = isKernelMode(sample.misc);
  if (filters_ && !isKept(options_.filter, sample, kernelMode, firstTime)) return;

  const Running& now = running(sample);
  bool codeMapped = false;
  const bool exact = (sample.misc & PERF_RECORD_MISC_EXACT_IP) != 0;
  const uint32_t site = places.codeAt(*now.space, sample.ip, kernelMode, exact, codeMapped);
  const DataPage& page = places.dataAt(*now.space, sample.address, kernelMode);
  const SourceClass& source = classes.of(sample.dataSource, sample.address != 0, codeMapped && page.mapped);
  if (!source.access) return;

  Touch& touch = table.next(sample.address + page.delta, page.space);
  touch.address = sample.address;
  touch.time = lastTime_;
  touch.physical = sample.physicalAddress;
  touch.cycles = sample.weight;
  touch.region = page.region;
  touch.group = options_.coalesce.onlyCode() ? site : groupOf(sample, site);
  touch.site = site;
  touch.thread = now.thread;
  touch.source = &source;
  touch.cpu = static_cast<uint16_t>(std::min<uint32_t>(sample.cpu, Touch::kNoCpu));
  touch.node = touch.cpu < nodeOfCpu_.size() ? nodeOfCpu_[touch.cpu] : findNode(touch.cpu);
  touch.memoryNode = Touch::kNoNode;
  if (sample.physicalAddress != 0)
    touch.memoryNode = memoryNodes.of(sample.physicalAddress).value_or(Touch::kNoNode);
  if (options_.callers && !sample.callchain.empty())
    addCallers(sample, *now.space, site,
               (source.at(Counter::localHitm) | source.at(Counter::remoteHitm)) != 0);
  if (sample.registers.mask != 0) vote(sample, site, page);
}

/// What has symbols needs no votes. Whether the kernel's data has some is asked when all is known of it.
void Collector::vote(const perfdata::Sample& sample, uint32_t site, const DataPage& page) {
  const bool kernelData = isKernelAddress(sample.address);
  if (!kernelData && (page.region == analysis::kNone || names.hasSymbols(page.region))) return;
  registerVotes_.add(sample, site, {page.space, sample.address + page.delta});
}

uint16_t Collector::findNode(uint16_t cpu) {
  if (cpu == Touch::kNoCpu) return Touch::kNoNode;
  for (auto next = static_cast<uint32_t>(nodeOfCpu_.size()); next <= cpu; ++next)
    nodeOfCpu_.push_back(static_cast<uint16_t>(cpuNodes.of(next).value_or(Touch::kNoNode)));
  return nodeOfCpu_[cpu];
}

void Collector::finish() {
  table.finish();
}

}  // namespace cacheline::c2c
