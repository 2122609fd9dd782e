// A taste, a reading, and maybe another one.
#include "c2c/readings.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "c2c/event_fields.h"
#include "c2c/spe_source.h"

namespace cacheline::c2c {

namespace {

using Progress = std::function<bool(double)>;

/// All samples in the order of time.
Readings readInOrder(perfdata::Reader& reader, std::unique_ptr<WatchedCollector> to, unsigned threads,
                     const Progress& progress) {
  Readings readings{std::move(to), {}};
  WatchedCollector& collector = *readings.collector;
  if (isSpe(reader)) {
    SpeGatherer gatherer;
    reader.readAll(gatherer, [&](double done) { return progress(done / 2); });
    spe::SpeSession session = gatherer.session(reader.features());
    SpeMerger merger(session, collector);
    reader.readAll(merger, [&](double done) { return progress((1 + done) / 2); });
    merger.finish();
    readings.warnings = session.warnings();
  } else {
    reader.readAll(collector, progress, nullptr, threads);
  }
  collector.placeAllWatched();
  collector.finish();
  return readings;
}

/// Whether a report needs all samples, each after the older ones: callers are of all samples at a code
/// address, registers of any sample tell where an object lies, what was watched is listed whatever it has,
/// and time windows count from the first sample.
bool needsOrder(const perfdata::Reader& reader, const Options& options, const analysis::WatchLog* watched) {
  const Filter& filter = options.filter;
  return isSpe(reader) || filter.from > 0 || filter.to != std::numeric_limits<double>::infinity() ||
         options.callers || watched != nullptr || (options.showAll && !options.coalesce.onlyCode()) ||
         hasBits(reader, PERF_SAMPLE_REGS_INTR) || hasBits(reader, PERF_SAMPLE_REGS_USER);
}

/// Reads sums of lines alone, and only until they tell which lines will be listed.
class Taste : public WatchedCollector {
 public:
  /// `mayStop` false: reads everything.
  Taste(const perfdata::Features& features, const analysis::Meta& meta, const Options& options,
        uint32_t lineSize, Display display, bool mayStop)
      : WatchedCollector(features, meta, options, lineSize, nullptr, perfdata::AddressFilter(lineSize, 0)),
        display_(display),
        mayStop_(mayStop) {}

  bool onOrdered() override {
    hasEnough_ = mayStop_ && metricOf(totals().tally, display_) >= kEnough;
    return !hasEnough_;
  }
  bool hasEnough() const { return hasEnough_; }
  /// After finish(): what has by far too few of the displayed loads will hardly be listed. A line at the
  /// limit is missed once in a thousand times.
  std::optional<perfdata::AddressFilter> likely() const {
    const double limit = kListedShare * static_cast<double>(metricOf(survey.shared.tally, display_));
    const double least = limit - 3 * std::sqrt(limit);
    return addressesOf(
        [&](const RowTally& line) { return static_cast<double>(metricOf(line, display_)) >= least; });
  }

 private:
  static constexpr uint64_t kEnough = 100'000;
  const Display display_;
  const bool mayStop_;
  bool hasEnough_ = false;
};

}  // namespace

Readings readSamples(perfdata::Reader& reader, const analysis::Meta& meta, const Options& options,
                     uint32_t lineSize, Display display, const analysis::WatchLog* watched,
                     const Progress& progress) {
  const auto fresh = [&](std::optional<perfdata::AddressFilter> rows = {}) {
    return std::make_unique<WatchedCollector>(reader.features(), meta, options, lineSize, watched,
                                              std::move(rows));
  };
  const auto inOrder = [&] { return readInOrder(reader, fresh(), options.threads, progress); };
  if (needsOrder(reader, options, watched)) return inOrder();

  double shown = 0;  // it is not known how many readings there will be
  const auto tell = [&](double done) { return progress(shown = std::max(shown, done)); };
  const auto scan = [&](WatchedCollector& to, const perfdata::AddressFilter* filter = nullptr) {
    return reader.scan(to, to.workers(), tell, filter);
  };
  const bool byCode = options.coalesce.onlyCode();
  std::unique_ptr<WatchedCollector> first;
  perfdata::Scanned scanned;
  if (options.showAll) {
    first = fresh();
    scanned = scan(*first);
    if (scanned != perfdata::Scanned::plainly) return inOrder();
  } else {
    auto taste = std::make_unique<Taste>(reader.features(), meta, options, lineSize, display, byCode);
    scanned = scan(*taste);
    const bool isWhole = !taste->hasEnough();
    if (!isWhole) {
      taste->finish();
      first = fresh(taste->likely().value_or(perfdata::AddressFilter(lineSize, 0)));
      taste.reset();
      scanned = scan(*first);
    } else {
      first = std::move(taste);
    }
    if (scanned == perfdata::Scanned::partly) return inOrder();
  }
  first->finish();
  const bool plain = scanned == perfdata::Scanned::plainly;
  const LineChoice listed = [&](const RowTally& line) {
    return isListed(line, first->survey.shared, display);
  };
  if (plain && first->hasRowsOf(listed)) return {std::move(first), {}};

  const std::optional<perfdata::AddressFilter> addresses = first->addressesOf(listed);
  const Survey survey = first->survey;
  first = fresh();
  const perfdata::AddressFilter* const filter = addresses ? &*addresses : nullptr;
  if (byCode && plain)
    scan(*first, filter);
  else
    reader.readAll(*first, tell, filter, options.threads);
  first->finish();
  first->survey = survey;
  return {std::move(first), {}};
}

}  // namespace cacheline::c2c
