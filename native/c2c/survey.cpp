// Memory samples counted by line.
#include "c2c/survey.h"

#include <algorithm>

#include "c2c/sample_filter.h"
#include "perfdata/access_reader.h"
#include "perfdata/record_parser.h"

namespace cacheline::c2c {

using analysis::AddressSpace;

void Totals::add(const Totals& other) {
  tally.add(other.tally);
  attributed += other.attributed;
  filtered += other.filtered;
  cycles |= other.cycles;
  physical |= other.physical;
  peer |= other.peer;
  firstTime = std::min(firstTime, other.firstTime);
  lastTime = std::max(lastTime, other.lastTime);
}

/// The samples of one thread of ours.
class Survey::Worker : public perfdata::AccessVisitor {
 public:
  explicit Worker(Survey& survey)
      : survey_(survey), lineMask_(~uint64_t{survey.lineSize_ - 1}), filters_(survey.options_.filter.any()) {}

  void onAccesses(perfdata::AccessReader& reader, const perfdata::Stretch& stretch) override {
    reader.each(stretch,
                [this](const perfdata::AccessSample& sample) __attribute__((always_inline)) { add(sample); });
  }

  [[gnu::always_inline]] void add(const perfdata::AccessSample& sample) {
    if (perfdata::isTime(sample.time)) [[likely]] {
      totals_.firstTime = std::min(totals_.firstTime, sample.time);
      totals_.lastTime = std::max(totals_.lastTime, sample.time);
    }
    const bool kernelMode = isKernelMode(sample.misc);
    if (!started_) windowStart_ = sample.time;
    started_ = true;
    if (filters_ && !isKept(survey_.options_.filter, sample, kernelMode, windowStart_)) {
      ++totals_.filtered;
      return;
    }
    const Running& now = running(sample.pid);
    const AddressSpace& space = *now.space;
    const uint64_t version = versionOf(now.version, kernelMode);
    const bool* known = code_.find(sample.ip, version);
    const bool codeMapped = known != nullptr ? *known : isCode(space, sample.ip, kernelMode);
    const Page* page = pages_.find(sample.address >> DataPage::kBits, version);
    if (page == nullptr) [[unlikely]]
      page = &findPage(space, sample.address, kernelMode);
    const SourceClass& source =
        classes_.of(sample.dataSource, sample.address != 0, codeMapped && page->mapped);
    if (source.index >= byClass_.size()) [[unlikely]]
      byClass_.resize(classes_.size());
    ++byClass_[source.index];
    if (!source.access) return;
    ++totals_.attributed;
    totals_.cycles |= sample.weight != 0;
    totals_.physical |= sample.physicalAddress != 0;
    lines_.add((sample.address + page->delta) & lineMask_, page->space, source);
  }

  /// What was looked up in processes and mappings may be another thing now.
  void processesChanged() { running_.fill({}); }
  void kernelChanged() {
    code_.clear();
    pages_.clear();
  }

  void finish() {
    lines_.flush();
    for (size_t i = 0; i < byClass_.size(); ++i) {
      const SourceClass& source = classes_[i];
      totals_.tally.add(source, byClass_[i]);
      totals_.peer |= source.access && (source.at(Counter::localPeer) | source.at(Counter::remotePeer)) != 0;
    }
  }
  const Totals& totals() const { return totals_; }
  LineTotals& lines() { return lines_; }

 private:
  struct Page {
    uint64_t delta = 0;
    uint32_t space = 0;
    bool mapped = false;
  };
  struct Running {
    uint32_t pid = 0;
    const AddressSpace* space = nullptr;
    uint64_t version = 0;
  };

  const Running& running(uint32_t pid) {
    Running& slot = running_[pid % running_.size()];
    if (slot.pid != pid || slot.space == nullptr) [[unlikely]] {
      const AddressSpace& space = survey_.spaceOf(pid);
      slot = {pid, &space, versionOf(space)};
    }
    return slot;
  }
  bool isCode(const AddressSpace& space, uint64_t ip, bool kernelMode) {
    const bool mapped =
        kernelMode || isKernelAddress(ip) ? survey_.kernel_.has(ip) : space.mappings->find(ip) != nullptr;
    return code_.add(ip, versionOf(versionOf(space), kernelMode), mapped);
  }
  const Page& findPage(const AddressSpace& space, uint64_t address, bool kernelMode) {
    const DataPage page = survey_.findPage(space, address, kernelMode);
    return pages_.add(address >> DataPage::kBits, versionOf(versionOf(space), kernelMode),
                      {page.delta, page.space, page.mapped});
  }

  Survey& survey_;
  const uint64_t lineMask_;
  const bool filters_;
  std::array<Running, 64> running_{};
  RecentCache<bool> code_;
  RecentCache<Page> pages_;
  SourceClasses classes_;
  std::vector<uint64_t> byClass_;  ///< samples
  bool started_ = false;
  uint64_t windowStart_ = 0;  ///< the first sample's time: windows are read in order
  Totals totals_;
  LineTotals lines_;
};

Survey::Survey(const Options& options, uint32_t lineSize) : options_(options), lineSize_(lineSize) {
  for (unsigned i = 0; i < std::max(options.threads, 1u); ++i) {
    workers_.push_back(std::make_unique<Worker>(*this));
    visitors_.push_back(workers_.back().get());
  }
}

Survey::~Survey() = default;

AddressSpace& Survey::spaceOf(uint32_t pid) {
  const std::lock_guard lock(mutex_);
  return spaces_.of(pid);
}

DataPage Survey::findPage(const AddressSpace& space, uint64_t address, bool kernelMode) {
  const std::lock_guard lock(mutex_);
  const analysis::Mapping* mapping = isKernelAddress(address) ? nullptr : space.mappings->find(address);
  const DataPage page = pageOf(lineSpaces_, kernel_, space, mapping, address, kernelMode);
  if (lineSpaces_[page.space].shared) deltas_.emplace(page.space, page.delta);
  return page;
}

void Survey::onSample(const perfdata::Sample& sample) {
  workers_.front()->add(perfdata::AccessSample(sample));
}

void Survey::onMmap(const perfdata::Mmap& record) {
  if (!record.kernel) {
    spaces_.onMmap(record);
    return processesChanged();
  }
  kernel_.add(record);
  for (const auto& worker : workers_) worker->kernelChanged();
}

void Survey::onComm(const perfdata::Comm& record) {
  spaces_.onComm(record);
  processesChanged();
}

void Survey::onFork(const perfdata::Task& record) {
  spaces_.onFork(record);
  processesChanged();
}

void Survey::onExit(const perfdata::Task& record) {
  spaces_.onExit(record);
  processesChanged();
}

void Survey::onLost(const perfdata::Lost& record) {
  lost_ += record.count;
  spaces_.onLost();
}

void Survey::processesChanged() {
  for (const auto& worker : workers_) worker->processesChanged();
}

void Survey::finish() {
  for (const auto& worker : workers_) {
    worker->finish();
    totals_.add(worker->totals());
  }
  LineTotals& all = workers_.front()->lines();
  for (size_t i = 1; i < workers_.size(); ++i) all.add(workers_[i]->lines());
  for (size_t i = 0; i < all.size(); ++i) shared_.add(all[i]);
  lineCount_ = all.size();
}

void Survey::forgetLines() {
  visitors_.clear();
  workers_.clear();
}

std::optional<perfdata::AddressFilter> Survey::listed(Display display) const {
  constexpr size_t kMostStarts = size_t{1} << 21;
  const LineTotals& all = workers_.front()->lines();
  std::vector<uint64_t> starts;
  for (size_t i = 0; i < all.size(); ++i) {
    const LineTotal& line = all[i];
    RowTally tally;
    tally.add(line.counts);
    if (!isListed(tally, shared_, display)) continue;
    for (const uint64_t offset : {line.offset, line.offset ^ lineSize_}) {
      auto delta = deltas_.lower_bound({line.space, 0});
      if (delta == deltas_.end() || delta->first != line.space) starts.push_back(offset);
      for (; delta != deltas_.end() && delta->first == line.space && starts.size() <= kMostStarts; ++delta)
        starts.push_back(offset - delta->second);
    }
  }
  if (starts.size() > kMostStarts) return std::nullopt;
  perfdata::AddressFilter filter(lineSize_, starts.size());
  for (const uint64_t start : starts) {
    filter.add(start);
    filter.add(start + lineSize_ - 1);  // of a mapping that does not begin with a line
  }
  return filter;
}

}  // namespace cacheline::c2c
