// What all analyses have in common.
#include "sharing/analyze.h"

#include <linux/perf_event.h>

#include "base/error.h"
#include "sharing/event_fields.h"
#include "sharing/inputs.h"
#include "sharing/spe_source.h"

namespace cacheline::sharing {

bool hasDataSources(const perfdata::Reader& reader) {
  return hasBits(reader, PERF_SAMPLE_DATA_SRC) || isSpe(reader);
}

analysis::Report analyze(perfdata::Reader& reader, const analysis::Recording& recording,
                         const Options& options, const Progress& progress) {
  const bool memory = hasDataSources(reader);
  if (options.display && !memory)
    throw Error(ErrorKind::usage, "this recording has no data sources, which -d needs",
                "Leave the option out: it is for recordings of memory samples.");
  const bool folder = !recording.folder.empty();
  Inputs inputs{.reader = reader,
                .recording = recording,
                .options = options,
                .tableLine = tableLineSize(recording.meta.lineSize, options.doubleLine),
                .progress =
                    [&progress](double done) {
                      if (progress && !progress(done))
                        throw Error(ErrorKind::cancelled, "the analysis was cancelled");
                      return true;
                    },
                .allocations = folder ? heap::Allocations::open(recording.folder) : nullptr,
                .watched = analysis::WatchLog::open(recording.folder)};
  analysis::Report report;
  report.collector = recording.meta.collector;
  report.lineSize = recording.meta.lineSize;
  report.metaJson = recording.meta.json;
  report.doubleLine = options.doubleLine;
  (memory ? analyzeMemory : analyzeClock)(inputs, report);
  if (!options.filter.any()) report.filtered.reset();
  inputs.progress(1);
  return report;
}

}  // namespace cacheline::sharing
