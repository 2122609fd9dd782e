// The readings of a recording with data sources: a taste of it that tells which lines will be listed, one of
// all samples, and another one of the listed lines' where the taste did not tell.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/watch_evidence.h"
#include "c2c/collector.h"
#include "c2c/options.h"
#include "c2c/survey.h"
#include "perfdata/record_parser.h"

namespace cacheline::c2c {

/// Beside the samples the hits of watchpoints, which are placed before each record that changes what is
/// mapped.
class WatchedCollector : public Collector {
 public:
  /// `log` null: nothing was watched. `allocations` null: the recording has none.
  WatchedCollector(const perfdata::Features& features, const analysis::Meta& meta, const Options& options,
                   uint32_t lineSize, const analysis::WatchLog* log, std::optional<RowAddresses> rows = {},
                   const heap::Allocations* allocations = nullptr)
      : Collector(features, meta, options, lineSize, std::move(rows), allocations) {
    if (log != nullptr) watch.emplace(*log, spaces, threads, lineSpaces, binaries, names, lineSize);
  }
  void onMmap(const perfdata::Mmap& record) override {
    placeWatched(record.time);
    Collector::onMmap(record);
  }
  void onComm(const perfdata::Comm& record) override {
    placeWatched(record.time);
    Collector::onComm(record);
  }
  void onFork(const perfdata::Task& record) override {
    placeWatched(record.time);
    Collector::onFork(record);
  }
  void onExit(const perfdata::Task& record) override {
    placeWatched(record.time);
    Collector::onExit(record);
  }
  /// Before a record of that time; the end of the recording is later than all.
  void placeWatched(uint64_t time) {
    if (watch && perfdata::isTime(time)) watch->until(time);
  }
  void placeAllWatched() {
    if (watch) watch->until(~uint64_t{0});
  }
  std::optional<analysis::WatchEvidence> watch;
};

/// What the readings of a recording find.
struct Readings {
  std::unique_ptr<WatchedCollector> collector;
  std::vector<std::string> warnings;
};

/// `lineSize`: bytes; of a pair of lines where pairs are asked for. `watched`: null where nothing was.
/// `allocations`: null where there are none; must live as long as what is returned.
Readings readSamples(perfdata::Reader& reader, const analysis::Meta& meta, const Options& options,
                     uint32_t lineSize, Display display, const analysis::WatchLog* watched,
                     const heap::Allocations* allocations, const std::function<bool(double)>& progress);

}  // namespace cacheline::c2c
