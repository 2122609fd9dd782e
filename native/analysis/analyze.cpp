// A clock recording from its reader to its report.
#include "analysis/analyze.h"

#include <linux/perf_event.h>

#include <algorithm>

#include "analysis/collector.h"
#include "analysis/cpu_nodes.h"
#include "analysis/recording.h"
#include "analysis/report_builder.h"
#include "analysis/warnings.h"
#include "base/error.h"
#include "perfdata/access_reader.h"
#include "perfdata/reader.h"

namespace cacheline::analysis {

namespace {

constexpr double kSeenShare = 0.2, kReadingShare = 0.9;  // of the progress, when done; naming is the rest

constexpr uint64_t kRegisters = PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER;
constexpr uint64_t kNeeded = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

const char* const kRecordHint =
    "Record with `cacheline record`, or with `perf c2c record` where there is a memory PMU.";

/// What the clock evidence needs: register snapshots of x86-64, with time and thread.
void checkUsable(const perfdata::Reader& reader) {
  const std::string& arch = reader.features().arch;
  if (!arch.empty() && arch != "x86_64")
    throw Error(ErrorKind::unreadable,
                "the samples of this recording have no data addresses, and of " + arch +
                    " no code can be decoded to find them",
                "Record there with `perf c2c record` or `perf mem record`.");
  bool registers = false, complete = false;
  for (const perfdata::Event& event : reader.events()) {
    const uint64_t type = event.attr.sample_type;
    registers |= (type & kRegisters) != 0;
    complete |= (type & kRegisters) != 0 && (type & kNeeded) == kNeeded;
  }
  if (!registers)
    throw Error(
        ErrorKind::unreadable,
        "this recording has neither data addresses nor register snapshots, so no sample names the memory it "
        "touched",
        kRecordHint);
  if (!complete)
    throw Error(
        ErrorKind::unreadable,
        "the samples of this recording lack the instruction pointer, the thread or the time, without which "
        "nobody can tell who competes",
        kRecordHint);
}

bool haveCpus(const perfdata::Reader& reader) {
  return std::all_of(reader.events().begin(), reader.events().end(), [](const perfdata::Event& event) {
    return (event.attr.sample_type & kRegisters) == 0 || (event.attr.sample_type & PERF_SAMPLE_CPU) != 0;
  });
}

/// What the filter keeps of the samples, on one thread of ours.
class SeenWorker : public perfdata::RecordVisitor, public perfdata::AccessVisitor {
 public:
  /// `samples`: when all samples were; nullopt: they come in time order.
  SeenWorker(const Filter& filter, const std::optional<perfdata::TimeSpan>& samples) : filter_(filter) {
    if (samples) filter_.beginWindows(samples->first);
  }
  void onSample(const perfdata::Sample& sample) override {
    if (filter_.keeps(sample, isKernel(sample))) seen.onSample(sample);
  }
  void onAccesses(perfdata::AccessReader& reader, const perfdata::Stretch& stretch) override {
    reader.eachSample(stretch, [this](const perfdata::Sample& sample) { onSample(sample); });
  }
  SeenCode seen;
  std::optional<uint64_t> firstTime() const { return filter_.firstTime(); }

 private:
  SampleFilter filter_;
};

/// `firstTime`: gets the time of the first sample, ns.
SeenCode seenCode(perfdata::Reader& reader, const AnalyzeOptions& options, std::optional<uint64_t>& firstTime,
                  const std::function<bool(double)>& progress) {
  std::vector<std::unique_ptr<SeenWorker>> workers;
  std::vector<perfdata::AccessVisitor*> visitors;
  for (unsigned i = 0; i < std::max(options.threads, 1u); ++i) {
    workers.push_back(std::make_unique<SeenWorker>(options.filter, reader.sampleSpan()));
    visitors.push_back(workers.back().get());
  }
  if (reader.scan(visitors, progress) == perfdata::Scanned::partly)
    reader.readAll(*workers.front(), progress);
  firstTime = workers.front()->firstTime();
  SeenCode& seen = workers.front()->seen;
  for (size_t i = 1; i < workers.size(); ++i) seen.add(workers[i]->seen);
  seen.finish();
  return std::move(seen);
}

}  // namespace

void checkPairs(uint32_t lineSize) {
  if (2 * lineSize > kMaxLineSize)
    throw Error(ErrorKind::usage,
                "lines of this recording have " + std::to_string(lineSize) +
                    " bytes; pairs of them are not supported",
                "Leave --double-cl out.");
}

Report analyze(perfdata::Reader& reader, const Recording& recording, const AnalyzeOptions& options,
               const std::function<bool(double)>& progress) {
  const auto step = [&](double done) {
    if (progress && !progress(done)) throw Error(ErrorKind::cancelled, "the analysis was cancelled");
  };
  checkUsable(reader);

  const Timeline timeline = Timeline::of(reader);
  std::optional<uint64_t> firstTime;
  const SeenCode seen = seenCode(reader, options, firstTime, [&](double done) {
    step(done * kSeenShare);
    return true;
  });
  const auto allocations = recording.folder.empty() ? nullptr : heap::Allocations::open(recording.folder);
  const auto watched = WatchLog::open(recording.folder);
  SampleFilter filter(options.filter);
  if (firstTime) filter.beginWindows(*firstTime);
  if (watched)
    std::erase_if(watched->traps,
                  [&](const WatchTrap& trap) { return !filter.keeps(trap, (trap.ip >> 63) != 0); });
  Collector collector(reader.features(), recording.meta, timeline, seen, options, allocations.get(),
                      watched.get());
  if (options.callers) collector.callers.emplace(collector.binaries, timeline);
  const auto reading = [&](double done) {
    step(kSeenShare + done * (kReadingShare - kSeenShare));
    return true;
  };
  reader.readAll(collector, reading, options.threads);

  Report report;
  report.evidence = {"clock"};
  if (watched && !watched->windows.empty()) report.evidence.emplace_back("watch");
  report.collector = recording.meta.collector.empty() ? "clock" : recording.meta.collector;
  report.lineSize = recording.meta.lineSize;
  report.metaJson = recording.meta.json;
  const bool cpusKnown = haveCpus(reader);
  const CpuNodes nodes(reader.features().numaNodes);
  buildReport(collector, nodes,
              {.showAll = options.showAll,
               .cpusKnown = cpusKnown,
               .doubleLine = options.doubleLine,
               .coalesce = options.coalesce},
              report);
  report.doubleLine = options.doubleLine;
  if (options.filter.any()) report.filtered = collector.filtered;

  report.warnings =
      warningsOf({.recording = recording,
                  .reader = reader,
                  .timeline = timeline,
                  .binaries = collector.binaries,
                  .allocations = allocations.get(),
                  .watched = watched ? &*watched : nullptr,
                  .cpusKnown = cpusKnown || report.samples == 0,
                  .callersLeftOut = collector.callers ? collector.callers->leftOutWarning() : ""},
                 report);
  step(1);
  return report;
}

}  // namespace cacheline::analysis
