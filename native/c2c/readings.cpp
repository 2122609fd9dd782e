// One reading of a recording with data sources, or two.
#include "c2c/readings.h"

#include <linux/perf_event.h>

#include <limits>
#include <utility>

#include "c2c/event_fields.h"
#include "c2c/spe_source.h"

namespace cacheline::c2c {

namespace {

/// Hands every record to two visitors.
class Both : public perfdata::RecordVisitor {
 public:
  Both(perfdata::RecordVisitor& first, perfdata::RecordVisitor& second) : first_(first), second_(second) {}
  void onSample(const perfdata::Sample& record) override { pass(record, &RecordVisitor::onSample); }
  void onMmap(const perfdata::Mmap& record) override { pass(record, &RecordVisitor::onMmap); }
  void onComm(const perfdata::Comm& record) override { pass(record, &RecordVisitor::onComm); }
  void onFork(const perfdata::Task& record) override { pass(record, &RecordVisitor::onFork); }
  void onExit(const perfdata::Task& record) override { pass(record, &RecordVisitor::onExit); }
  void onLost(const perfdata::Lost& record) override { pass(record, &RecordVisitor::onLost); }
  void onKsymbol(const perfdata::Ksymbol& record) override { pass(record, &RecordVisitor::onKsymbol); }

 private:
  template <typename Record>
  void pass(const Record& record, void (RecordVisitor::*handler)(const Record&)) {
    (first_.*handler)(record);
    (second_.*handler)(record);
  }
  perfdata::RecordVisitor &first_, &second_;
};

/// One reading for both, where two take too long or are not possible.
Readings readOnce(perfdata::Reader& reader, Readings&& readings, unsigned threads,
                  const std::function<bool(double)>& progress) {
  Both both(*readings.survey, *readings.collector);
  if (isSpe(reader)) {
    SpeGatherer gatherer;
    reader.readAll(gatherer, [&](double done) { return progress(done / 2); });
    spe::SpeSession session = gatherer.session(reader.features());
    SpeMerger merger(session, both);
    reader.readAll(merger, [&](double done) { return progress((1 + done) / 2); });
    merger.finish();
    readings.warnings = session.warnings();
  } else {
    reader.readAll(both, progress, nullptr, threads);
  }
  readings.survey->finish();
  readings.survey->forgetLines();
  readings.collector->placeAllWatched();
  readings.collector->finish();
  return std::move(readings);
}

}  // namespace

Readings readSamples(perfdata::Reader& reader, const analysis::Meta& meta, const Options& options,
                     uint32_t lineSize, Display display, const analysis::WatchLog* watched,
                     const std::function<bool(double)>& progress) {
  constexpr double kSurveyShare = 0.3;
  const auto fresh = [&] {
    return Readings{std::make_unique<Survey>(options, lineSize),
                    std::make_unique<WatchedCollector>(reader.features(), meta, options, lineSize, watched),
                    {}};
  };
  // Time windows count from the first sample, which only a reading in order knows at once.
  const Filter& filter = options.filter;
  const bool hasWindow = filter.from > 0 || filter.to != std::numeric_limits<double>::infinity();
  Readings readings = fresh();
  if (isSpe(reader) || hasWindow) return readOnce(reader, std::move(readings), options.threads, progress);
  Survey& survey = *readings.survey;
  const perfdata::Scanned scanned =
      reader.scan(survey, survey.workers(), [&](double done) { return progress(done * kSurveyShare); });
  if (scanned == perfdata::Scanned::partly) return readOnce(reader, fresh(), options.threads, progress);
  survey.finish();
  readings.collector->firstTime = survey.totals().firstTime;
  // Callers are of all samples at a code address, registers of any sample tell where an object lies, and what
  // was watched is listed whatever it has.
  const bool needsAll = options.showAll || options.callers || watched != nullptr ||
                        hasBits(reader, PERF_SAMPLE_REGS_INTR) || hasBits(reader, PERF_SAMPLE_REGS_USER);
  std::optional<perfdata::AddressFilter> listed;
  if (!needsAll) listed = survey.listed(display);
  survey.forgetLines();
  const auto rest = [&](double done) { return progress(kSurveyShare + done * (1 - kSurveyShare)); };
  WatchedCollector& collector = *readings.collector;
  if (listed && options.coalesce.onlyCode() && scanned == perfdata::Scanned::plainly)
    reader.scan(collector, collector.workers(), rest, &*listed);
  else
    reader.readAll(collector, rest, listed ? &*listed : nullptr, options.threads);
  collector.placeAllWatched();
  collector.finish();
  return readings;
}

}  // namespace cacheline::c2c
