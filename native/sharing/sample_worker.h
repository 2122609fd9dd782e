// From memory samples to sums and accesses, on one thread of ours.
#pragma once

#include <linux/perf_event.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "analysis/cpu_nodes.h"
#include "analysis/sample_filter.h"
#include "analysis/thread_table.h"
#include "analysis/timeline.h"
#include "perfdata/address_filter.h"
#include "perfdata/reader.h"
#include "perfdata/record_parser.h"
#include "sharing/access_table.h"
#include "sharing/data_source.h"
#include "sharing/line_totals.h"
#include "sharing/options.h"
#include "sharing/places.h"
#include "sharing/recent_cache.h"
#include "sharing/survey.h"
#include "sharing/unplaced.h"

namespace cacheline::sharing {

/// For what takes far less time than to fall asleep and to be woken: who finds it taken spins first.
class LookupMutex {
 public:
  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
};

/// What rows of one offset are told apart by: all samples of one key make a row there.
struct GroupKey {
  uint64_t ip = 0;
  uint32_t pid = 0, tid = 0, dso = 0;
  bool operator==(const GroupKey&) const = default;
  size_t hash() const { return mix(mix(ip, dso), (uint64_t{pid} << 32) | tid); }
};
using Groups = HashMap<GroupKey, uint32_t>;

/// What all threads look up, and add what is new to, under the mutex.
struct Lookups {
  const analysis::Timeline& timeline;
  analysis::ThreadTable& threads;
  Places& places;
  Groups groups = {};
  LookupMutex mutex = {};
};

class SampleWorker : public perfdata::AccessVisitor {
 public:
  /// `rows`: samples of these addresses become accesses, all others sums of lines. Null: all become accesses
  /// of full rows.
  SampleWorker(Lookups& shared, const perfdata::Features& features, const Options& options, uint32_t lineSize,
               const RowAddresses* rows, const std::optional<Splitting>& splits = {});

  void onAccesses(perfdata::AccessReader& reader, const perfdata::Stretch& stretch) override;
  /// Counts a sample. Its access; null where it becomes none.
  MemoryAccess* add(const perfdata::Sample& sample);
  /// When the time windows of a filter begin, ns. Before the first sample.
  void beginWindows(uint64_t time) { windowStart_ = time; }
  Places::Code codeAt(const analysis::AddressSpace& space, uint64_t ip, bool kernelMode, bool exact) {
    const uint64_t version = versionOf(versionOf(space), kernelMode);
    const Places::Code* const known = codes_.find(ip, codeVersion(version, exact));
    return known != nullptr ? *known : findCode(space, ip, kernelMode, exact);
  }
  uint32_t threadOf(const perfdata::Sample& sample) { return running(perfdata::AccessSample(sample)).thread; }
  /// Good until the next sample of the process.
  const analysis::AddressSpace& spaceOf(const perfdata::Sample& sample) {
    return spaces_.at(sample.pid, sample.moment);
  }
  AccessLists& accesses() { return accesses_; }
  LineTotals& lines() { return *lines_; }
  /// Only what the rows point to is kept: the classes.
  void forget() {
    accesses_.release();
    lines_.reset();
  }
  /// Of the samples so far.
  Totals totals() const;
  /// Samples that are no accesses with an address; empty: splits are not asked for.
  std::optional<UnplacedTable> unplaced;

 private:
  struct Running {
    uint32_t pid = 0, tid = 0, thread = 0;
    uint64_t version = 0;  ///< of its process
    uint64_t first = 0,
             moments = 0;  ///< it was so in [first, first + moments), ns, and maybe a moment longer
  };
  /// An access.
  struct Placed {
    const DataPage* page;
    const SourceClass* source;
    uint32_t location, thread;
  };
  /// False where it is left out, or no access with an address.
  [[gnu::always_inline]] bool count(const perfdata::AccessSample& sample, Placed& placed) {
    const bool kernelMode = analysis::isKernelMode(sample.misc);
    // A copy here and below: the sample itself then needs no memory.
    if (filters_ &&
        !analysis::isKept(options_.filter, perfdata::AccessSample(sample), kernelMode, windowStart_)) {
      ++totals_.filtered;
      return false;
    }
    if (perfdata::isTime(sample.time)) [[likely]] {
      totals_.firstTime = std::min(totals_.firstTime, sample.time);
      totals_.lastTime = std::max(totals_.lastTime, sample.time);
    }
    const Running& now = running(sample);
    const bool exact = (sample.misc & PERF_RECORD_MISC_EXACT_IP) != 0;
    const uint64_t version = versionOf(now.version, kernelMode);
    const Places::Code* knownCode = codes_.find(sample.ip, codeVersion(version, exact));
    const Places::Code code =
        knownCode != nullptr ? *knownCode : findCode(spaceOf(sample), sample.ip, kernelMode, exact);
    const DataPage* page = pages_.find(sample.address >> DataPage::kBits, version);
    if (page == nullptr) [[unlikely]]
      page = &findPage(spaceOf(sample), sample.address, kernelMode);
    const SourceClass& source =
        classes_.count(sample.dataSource, sample.address != 0, code.mapped && page->mapped);
    if (!source.access) {
      if (unplaced) [[unlikely]]
        countUnplaced(perfdata::AccessSample(sample), source, code.location, now.thread);
      return false;
    }
    weights_ |= sample.weight;
    physicals_ |= sample.physicalAddress;
    placed = {page, &source, code.location, now.thread};
    return true;
  }
  /// The same as add(), for the loop.
  [[gnu::always_inline]] MemoryAccess* take(const perfdata::AccessSample& sample) {
    Placed placed;
    if (!count(sample, placed)) return nullptr;
    const DataPage& page = *placed.page;
    if (rows_ != nullptr && !rows_->any.mayHave(sample.address)) {
      lines_->add((sample.address + page.delta) & lineMask_, page.space, *placed.source);
      return nullptr;
    }
    MemoryAccess& access = accesses_.next(sample.address + page.delta, page.space);
    // Records are of 8 bytes at least.
    access.order = static_cast<uint32_t>(sample.position / 8);
    access.time = sample.time;
    access.physical = sample.physicalAddress;
    access.cycles = sample.weight;
    access.placement = page.placement;
    access.group = byCode_ ? placed.location : groupOf(sample, placed.location);
    access.location = placed.location;
    access.actor = placed.thread;
    access.source = placed.source;
    access.cpu = static_cast<uint16_t>(std::min<uint32_t>(sample.cpu, MemoryAccess::kNoCpu));
    access.node = (access.cpu < nodeOfCpu_.size() ? nodeOfCpu_[access.cpu] : findNode(access.cpu)) &
                  MemoryAccess::kNoNode;
    access.aggregateOnly = rows_ != nullptr && !rows_->full.mayHave(sample.address) ? 1 : 0;
    return &access;
  }
  /// A sample that comes soon, in user mode as most are.
  [[gnu::always_inline]] void expect(uint64_t ip, uint32_t tid) const {
    codes_.prefetch(ip, codeVersion(running_[tid % running_.size()].version, true));
  }
  [[gnu::noinline]] void countUnplaced(const perfdata::AccessSample& sample, const SourceClass& source,
                                       uint32_t location, uint32_t thread);
  static uint64_t codeVersion(uint64_t version, bool exact) { return version ^ (uint64_t{exact} << 62); }
  const Places::Code& findCode(const analysis::AddressSpace& space, uint64_t ip, bool kernelMode, bool exact);
  const DataPage& findPage(const analysis::AddressSpace& space, uint64_t address, bool kernelMode);
  [[gnu::always_inline]] const Running& running(const perfdata::AccessSample& sample) {
    Running& slot = running_[sample.tid % running_.size()];
    // Not `||`: the compiler would load both ids at once, and wait until the two stores before are done.
    const bool isOther = ((slot.tid ^ sample.tid) | (slot.pid ^ sample.pid)) != 0;
    if (isOther || sample.time - slot.first >= slot.moments) [[unlikely]]
      findRunning(perfdata::AccessSample(sample), slot);
    return slot;
  }
  [[gnu::noinline]] void findRunning(const perfdata::AccessSample& sample, Running& slot);
  const analysis::AddressSpace& spaceOf(const perfdata::AccessSample& sample) {
    return spaces_.at(sample.pid, {perfdata::isTime(sample.time) ? sample.time : since_, sample.position});
  }
  [[gnu::noinline]] uint32_t groupOf(const perfdata::AccessSample& sample, uint32_t location);
  uint16_t findNode(uint16_t cpu);

  Lookups& shared_;
  analysis::AddressSpaces spaces_{shared_.timeline};
  uint64_t since_ = 0;  ///< as Stretch::since
  const Options& options_;
  const bool filters_, byCode_;
  uint64_t windowStart_ = 0;
  const uint64_t lineMask_;
  const RowAddresses* const rows_;
  std::array<Running, 256> running_{};
  Groups groups_;  ///< of the shared ones, those seen here
  RecentCache<Places::Code> codes_;
  RecentCache<DataPage> pages_;
  SourceClasses classes_;
  Totals totals_;                         ///< but for what the classes count, and the next two
  uint64_t weights_ = 0, physicals_ = 0;  ///< all bits of those of accesses
  analysis::CpuNodes cpuNodes_;
  std::vector<uint16_t> nodeOfCpu_;
  AccessLists accesses_;
  std::optional<LineTotals> lines_{std::in_place};
};

}  // namespace cacheline::sharing
