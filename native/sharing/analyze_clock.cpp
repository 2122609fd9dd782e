// A clock recording from its reader to its report.
#include <linux/perf_event.h>

#include <algorithm>

#include "analysis/cpu_nodes.h"
#include "analysis/warnings.h"
#include "base/error.h"
#include "perfdata/access_reader.h"
#include "sharing/clock_collector.h"
#include "sharing/clock_report.h"
#include "sharing/inputs.h"

namespace cacheline::sharing {

namespace {

constexpr double kSeenShare = 0.2;  // of the progress, when it is known which code was seen

constexpr uint64_t kRegisters = PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER;
constexpr uint64_t kNeeded = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

const char* const kRecordHint =
    "Record with `cacheline record`, or with `perf c2c record` where there is a memory PMU.";

/// What the clock evidence needs: register snapshots of x86-64, with time and thread.
void checkHasRegisters(const perfdata::Reader& reader) {
  const std::string& arch = reader.features().arch;
  if (!arch.empty() && arch != "x86_64")
    throw Error(ErrorKind::unreadable,
                "the samples of this recording have no data addresses, and code for " + arch +
                    " cannot be decoded to find them",
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
        "the samples of this recording lack the instruction pointer, the thread or the time, so it is "
        "unknown which threads compete",
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
  SeenWorker(const analysis::Filter& filter, const std::optional<perfdata::TimeSpan>& samples)
      : filter_(filter) {
    if (samples) filter_.beginWindows(samples->first);
  }
  void onSample(const perfdata::Sample& sample) override {
    if (!filter_.keeps(sample, analysis::isKernel(sample))) return;
    seen.onSample(sample);
    firstKept = std::min(firstKept, sample.time);
    lastKept = std::max(lastKept, sample.time);
  }
  void onAccesses(perfdata::AccessReader& reader, const perfdata::Stretch& stretch) override {
    reader.eachSample(stretch, [this](const perfdata::Sample& sample) { onSample(sample); });
  }
  analysis::SeenCode seen;
  uint64_t firstKept = ~uint64_t{0}, lastKept = 0;  ///< times, ns
  std::optional<uint64_t> firstTime() const { return filter_.firstTime(); }

 private:
  analysis::SampleFilter filter_;
};

struct Seen {
  analysis::SeenCode code;
  std::optional<uint64_t> firstTime;  ///< of the first sample, kept or not, ns
  uint64_t firstKept = 0, lastKept = 0;
};

Seen seenCode(perfdata::Reader& reader, const Options& options, const std::function<bool(double)>& progress) {
  std::vector<std::unique_ptr<SeenWorker>> workers;
  std::vector<perfdata::AccessVisitor*> visitors;
  for (unsigned i = 0; i < std::max(options.threads, 1u); ++i) {
    workers.push_back(std::make_unique<SeenWorker>(options.filter, reader.sampleSpan()));
    visitors.push_back(workers.back().get());
  }
  if (reader.scan(visitors, progress) == perfdata::Scanned::partly)
    reader.readAll(*workers.front(), progress);
  SeenWorker& all = *workers.front();
  for (size_t i = 1; i < workers.size(); ++i) {
    all.seen.add(workers[i]->seen);
    all.firstKept = std::min(all.firstKept, workers[i]->firstKept);
    all.lastKept = std::max(all.lastKept, workers[i]->lastKept);
  }
  all.seen.finish();
  return {std::move(all.seen), all.firstTime(), std::min(all.firstKept, all.lastKept), all.lastKept};
}

std::optional<Splitting> splittingOf(const Options& options, const Seen& seen) {
  if (!options.splits) return std::nullopt;
  Splitting splitting{.cpus = options.splits->cpus};
  if (options.splits->bins > 0)
    splitting.bins =
        analysis::TimeBins{seen.firstTime.value_or(0), seen.firstKept, seen.lastKept, options.splits->bins};
  return splitting;
}

/// Whether a sample's period is a time: that of a clock's event.
bool havePeriods(const perfdata::Reader& reader) {
  return std::all_of(reader.events().begin(), reader.events().end(), [](const perfdata::Event& event) {
    const perf_event_attr& attr = event.attr;
    return (attr.sample_type & kRegisters) == 0 ||
           (attr.type == PERF_TYPE_SOFTWARE &&
            (attr.config == PERF_COUNT_SW_CPU_CLOCK || attr.config == PERF_COUNT_SW_TASK_CLOCK));
  });
}

}  // namespace

void analyzeClock(Inputs& inputs, analysis::Report& report) {
  perfdata::Reader& reader = inputs.reader;
  const Options& options = inputs.options;
  checkHasRegisters(reader);
  const analysis::Timeline timeline = analysis::Timeline::of(reader, {}, options.threads);
  const Seen seen =
      seenCode(reader, options, [&](double done) { return inputs.progress(done * kSeenShare); });
  if (inputs.watched) inputs.watched->keep(options.filter, seen.firstTime.value_or(0));
  inputs.splits = splittingOf(options, seen);
  ClockCollector collector(inputs, timeline, seen.code);
  if (options.history) collector.phases = analysis::phasesOf(timeline.workerLives(seen.code.threads()));
  reader.readAll(
      collector,
      [&](double done) { return inputs.progress(kSeenShare + done * (kReadingShare - kSeenShare)); },
      options.threads);
  collector.finish();

  report.evidence = {"clock"};
  if (inputs.watched && !inputs.watched->windows.empty()) report.evidence.emplace_back("watch");
  if (report.collector.empty()) report.collector = "clock";
  report.filtered = collector.filtered;
  const bool cpusKnown = haveCpus(reader);
  if (inputs.splits) {
    report.splits.emplace();
    report.splits->bins = inputs.splits->bins;
    report.splits->periodsKnown = havePeriods(reader);
    report.splits->cpusKnown = cpusKnown;
  }
  buildReport(collector, analysis::CpuNodes(reader.features().numaNodes), options, cpusKnown, report);
  report.warnings =
      warningsOf({.recording = inputs.recording,
                  .reader = reader,
                  .timeline = timeline,
                  .binaries = collector.binaries,
                  .allocations = inputs.allocations.get(),
                  .watched = inputs.watched.get(),
                  .cpusKnown = cpusKnown || report.samples == 0,
                  .callersLeftOut = collector.callers ? collector.callers->leftOutWarning() : ""},
                 report);
}

}  // namespace cacheline::sharing
