// The first reading of memory samples: the statistics of the recording, and what each line has of them. It
// tells which lines are worth rows, so that the second reading leaves out all others.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "analysis/address_space.h"
#include "analysis/line_space.h"
#include "c2c/data_source.h"
#include "c2c/kernel_ranges.h"
#include "c2c/line_totals.h"
#include "c2c/options.h"
#include "c2c/places.h"
#include "c2c/recent_cache.h"
#include "c2c/selection.h"
#include "perfdata/address_filter.h"
#include "perfdata/reader.h"

namespace cacheline::c2c {

/// Sums over samples.
struct Totals {
  Tally tally;
  uint64_t attributed = 0, filtered = 0;
  bool cycles = false, physical = false, peer = false;                      ///< whether samples carry them
  uint64_t firstTime = std::numeric_limits<uint64_t>::max(), lastTime = 0;  ///< of samples, ns
  void add(const Totals& other);
  double seconds() const {
    return lastTime > firstTime ? static_cast<double>(lastTime - firstTime) / 1e9 : 0;
  }
};

/// Counts samples in any order, by two visitors for two threads. As a visitor it takes all other records.
class Survey : public perfdata::RecordVisitor {
 public:
  /// `lineSize`: bytes, a power of two; of a pair of lines where pairs are asked for.
  Survey(const Options& options, uint32_t lineSize);
  ~Survey() override;

  /// Of the samples: options.threads.
  std::span<perfdata::AccessVisitor* const> workers() const { return visitors_; }
  void onSample(const perfdata::Sample& sample) override;
  void onMmap(const perfdata::Mmap& record) override;
  void onComm(const perfdata::Comm& record) override;
  void onFork(const perfdata::Task& record) override;
  void onExit(const perfdata::Task& record) override;
  void onLost(const perfdata::Lost& record) override;
  /// After the last record.
  void finish();

  // After finish():
  const Totals& totals() const { return totals_; }
  const SharedLines& shared() const { return shared_; }
  uint64_t lines() const { return lineCount_; }
  uint64_t lost() const { return lost_; }
  /// All addresses of the lines that a report by `display` lists, and of their neighbours; nullopt: too many
  /// for a filter to leave out much.
  std::optional<perfdata::AddressFilter> listed(Display display) const;
  /// Frees what only listed() needs: the sums of every line.
  void forgetLines();

 private:
  class Worker;
  analysis::AddressSpace& spaceOf(uint32_t pid);
  DataPage findPage(const analysis::AddressSpace& space, uint64_t address, bool kernelMode);
  void processesChanged();

  const Options& options_;
  const uint32_t lineSize_;
  uint64_t lost_ = 0, lineCount_ = 0;
  // While the workers are at work: what is looked up in them is added to them, under the mutex.
  std::mutex mutex_;
  analysis::AddressSpaces spaces_;
  analysis::LineSpaces lineSpaces_{spaces_};
  /// Of shared spaces: space, and position - address of a place where it was mapped.
  std::set<std::pair<uint32_t, uint64_t>> deltas_;
  // Does not change meanwhile.
  KernelRanges kernel_;

  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<perfdata::AccessVisitor*> visitors_;
  Totals totals_;
  SharedLines shared_;
};

}  // namespace cacheline::c2c
