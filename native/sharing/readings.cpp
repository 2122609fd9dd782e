// A prepass, a reading, and maybe another one.
#include "sharing/readings.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sharing/event_fields.h"
#include "sharing/row_evidence.h"
#include "sharing/spe_source.h"

namespace cacheline::sharing {

namespace {

RowAddresses noRows(uint32_t lineSize) {
  return {{lineSize, 0}, {lineSize, 0}};
}

/// Reads sums of lines alone, and only until they tell which lines will be listed.
class Prepass : public MemoryCollector {
 public:
  /// `enough`: displayed loads. Of a small recording fewer: more of them would take longer than to keep rows
  /// of more lines.
  Prepass(const perfdata::Features& features, const analysis::Meta& meta, const analysis::Timeline& known,
          const Options& options, uint32_t lineSize, Display display, uint64_t enough)
      : MemoryCollector(features, meta, known, options, lineSize, noRows(lineSize)),
        display_(display),
        enough_(enough),
        mostSummed_(options.mostSummed) {}

  /// Whether more is needed.
  bool needsMore() {
    const uint64_t loads = metricOf(totals().tally, display_);
    if (loads == 0) begin_ = read_;  // in front of a time window
    hasEnough_ = loads >= (read_ - begin_ < kSmallShare ? enough_ : enough_ / kFewer);
    return !hasEnough_;
  }
  void onProgress(double read) { read_ = read; }
  bool hasEnough() const { return hasEnough_; }
  /// After finish(): what has by far too few of the displayed loads will hardly be listed. A line at the
  /// limit is missed once in a thousand times.
  std::optional<RowAddresses> likely() const {
    const double limit = kListedShare * static_cast<double>(metricOf(survey.shared.tally, display_));
    const double least = limit - 3 * std::sqrt(limit);
    // Where there are too many, which ones will be summed cannot be told.
    const SummedLines summed([this](const auto& visit) { eachTotal(visit); }, survey.shared, display_,
                             mostSummed_);
    const bool tells = summed.leftLines() == 0;
    return addressesOf(
        {.full =
             [&](const LineTotal& line) {
               const uint64_t metric = metricOf(line, display_);
               return metric != 0 && static_cast<double>(metric) >= least;
             },
         .aggregateOnly = [&](const LineTotal& line) { return tells && summed.needRowsOf(line); }});
  }

 private:
  static constexpr double kSmallShare = 0.1;
  static constexpr uint64_t kFewer = 10;

  const Display display_;
  const uint64_t enough_;
  const size_t mostSummed_;
  double read_ = 0, begin_ = 0;  ///< share of the recording, and where displayed loads begin
  bool hasEnough_ = false;
};

class SampleReading {
 public:
  SampleReading(Inputs& inputs, Display display)
      : inputs_(inputs), reader_(inputs.reader), options_(inputs.options), display_(display) {}

  Readings run() {
    timeline_ = std::make_unique<analysis::Timeline>(analysis::Timeline::of(reader_, {}, options_.threads));
    const bool scans = canScan();
    if (options_.splits) inputs_.splits = splitting(scans);
    Readings readings = !scans ? inOrder() : needsAllRows() ? all() : listed();
    MemoryCollector& collector = *readings.collector;
    collector.forgetSums();
    if (needsEvidence()) readEvidence(collector, scans);
    if (inputs_.watched) {
      inputs_.watched->keep(options_.filter, collector.windowStart());
      readings.watch.emplace(*inputs_.watched, *timeline_, collector.threads, collector.lineSpaces,
                             collector.binaries, collector.names, inputs_.tableLine);
    }
    readings.timeline = std::move(timeline_);
    return readings;
  }

 private:
  using Scanned = perfdata::Scanned;

  bool canScan() {
    if (isSpe(reader_) || !reader_.canScan()) return false;
    if (!options_.filter.hasWindow()) return true;
    if (const auto span = reader_.sampleSpan()) firstTime_ = span->first;
    return firstTime_.has_value();
  }
  /// What was watched is listed, whatever it has.
  bool needsAllRows() const {
    return options_.showAll || inputs_.watched != nullptr || options_.splits.has_value();
  }
  bool needsEvidence() const {
    uint64_t types = 0;
    for (const perfdata::Event& event : reader_.events()) types |= event.attr.sample_type;
    return RowEvidence::isNeeded(types, options_, inputs_.allocations != nullptr);
  }

  /// Parts of the time take a reading of their own: which samples are kept is not known before.
  Splitting splitting(bool scans) {
    Splitting splitting{.cpus = options_.splits->cpus};
    if (options_.splits->bins == 0) return splitting;
    auto times = fresh(noRows(inputs_.tableLine));
    if (!scans || scan(*times) == Scanned::partly) {
      times = fresh(noRows(inputs_.tableLine));
      readInOrder(*times);
    }
    const Totals totals = times->totals();
    const auto span = scans ? reader_.sampleSpan() : std::nullopt;
    splitting.bins = analysis::TimeBins{span ? span->first : times->windowStart(),
                                        std::min(totals.firstTime, totals.lastTime), totals.lastTime,
                                        options_.splits->bins};
    return splitting;
  }

  std::unique_ptr<MemoryCollector> fresh(std::optional<RowAddresses> rows = {}) const {
    auto collector = std::make_unique<MemoryCollector>(reader_.features(), inputs_.recording.meta, *timeline_,
                                                       options_, inputs_.tableLine, std::move(rows),
                                                       inputs_.allocations.get(), inputs_.splits);
    if (firstTime_) collector->beginWindows(*firstTime_);
    return collector;
  }
  /// How many readings there will be is not known.
  bool tell(double done) { return inputs_.progress(kReadingShare * (shown_ = std::max(shown_, done))); }
  Scanned scan(MemoryCollector& to, const perfdata::AddressFilter* filter = nullptr) {
    return reader_.scan(
        to.workers(), [this](double done) { return tell(done); }, filter,
        [&to] {
          to.ordered();
          return true;
        });
  }

  void readEvidence(MemoryCollector& collector, bool scans) {
    RowEvidence evidence(collector, reader_.features(), options_, inputs_.tableLine, collector.windowStart());
    const auto progress = [this](double done) { return tell(done); };
    if (!scans || reader_.scan(evidence.workers(), progress, nullptr, [&] {
          evidence.ordered();
          return true;
        }) == Scanned::partly)
      reader_.readAll(evidence, progress, options_.threads);
    evidence.finish();
  }

  /// Returns warnings.
  std::vector<std::string> readInOrder(MemoryCollector& collector) {
    if (!isSpe(reader_)) {
      reader_.readAll(
          collector, [this](double done) { return tell(done); }, options_.threads);
      return {};
    }
    SpeGatherer gatherer;
    reader_.readAll(gatherer, [this](double done) { return tell(done / 2); });
    spe::SpeSession session = gatherer.session(reader_.features());
    SpeMerger merger(session, collector);
    reader_.readAll(merger, [this](double done) { return tell((1 + done) / 2); });
    merger.finish();
    return session.warnings();
  }

  Readings inOrder() {
    Readings readings;
    readings.collector = fresh();
    MemoryCollector& collector = *readings.collector;
    readings.warnings = readInOrder(collector);
    collector.finish();
    if (!options_.showAll) chooseSummed(collector);
    return readings;
  }

  static Readings of(std::unique_ptr<MemoryCollector> collector) {
    Readings readings;
    readings.collector = std::move(collector);
    return readings;
  }

  Readings all() {
    auto collector = fresh();
    if (scan(*collector) != Scanned::plainly) return inOrder();
    collector->finish();
    if (!options_.showAll) chooseSummed(*collector);
    return of(std::move(collector));
  }

  Readings listed() {
    Scanned scanned;
    std::unique_ptr<MemoryCollector> collector = likelyLines(scanned);
    if (scanned == Scanned::partly) return inOrder();
    collector->finish();
    chooseSummed(*collector);
    const Survey survey = collector->survey;
    const LineChoice wanted{
        .full =
            [&](const LineTotal& line) {
              return isListed(metricOf(line, display_), survey.shared, display_);
            },
        .aggregateOnly = [&](const LineTotal& line) { return survey.summed.needRowsOf(line); }};
    const bool plain = scanned == Scanned::plainly;
    if (plain && collector->hasRowsOf(wanted)) return of(std::move(collector));

    const std::optional<RowAddresses> addresses = collector->addressesOf(wanted);
    const perfdata::AddressFilter* const filter = addresses ? &addresses->any : nullptr;
    collector = fresh(addresses);
    if (plain)
      scan(*collector, filter);
    else
      reader_.readAll(
          *collector, [this](double done) { return tell(done); }, options_.threads);
    collector->finish();
    collector->survey = survey;
    return of(std::move(collector));
  }

  void chooseSummed(MemoryCollector& collector) const {
    collector.survey.summed = SummedLines([&](const auto& visit) { collector.eachTotal(visit); },
                                          collector.survey.shared, display_, options_.mostSummed);
  }

  /// A reading of all samples, with rows of the lines that the first samples make likely. If they do not
  /// tell, of none.
  std::unique_ptr<MemoryCollector> likelyLines(Scanned& scanned) {
    auto prepass = std::make_unique<Prepass>(reader_.features(), inputs_.recording.meta, *timeline_, options_,
                                             inputs_.tableLine, display_, options_.prepassLoads);
    if (firstTime_) prepass->beginWindows(*firstTime_);
    const auto progress = [&](double done) {
      prepass->onProgress(done);
      return tell(done);
    };
    scanned = reader_.scan(prepass->workers(), progress, nullptr, [&] { return prepass->needsMore(); });
    if (scanned != Scanned::partly || !prepass->hasEnough()) return prepass;
    prepass->finish();
    auto collector = fresh(prepass->likely().value_or(noRows(inputs_.tableLine)));
    prepass.reset();
    scanned = scan(*collector);
    return collector;
  }

  Inputs& inputs_;
  perfdata::Reader& reader_;
  const Options& options_;
  const Display display_;
  std::unique_ptr<const analysis::Timeline> timeline_;
  std::optional<uint64_t> firstTime_;  ///< of the samples, where there is a time window, ns
  double shown_ = 0;
};

}  // namespace

Readings readSamples(Inputs& inputs, Display display) {
  return SampleReading(inputs, display).run();
}

}  // namespace cacheline::sharing
