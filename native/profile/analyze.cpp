// The choice of the analysis.
#include "profile/analyze.h"

#include <memory>
#include <utility>

#include "analysis/analyze.h"
#include "base/error.h"
#include "c2c/analyze.h"

namespace cacheline::profile {

analysis::Report analyze(const std::string& path, const c2c::Options& options, const Progress& progress) {
  const analysis::Recording recording = analysis::openRecording(path);
  auto reader = perfdata::Reader::open(recording.perfData);
  if (c2c::hasDataSources(*reader)) {
    analysis::Report report = c2c::analyze(*reader, recording, options, progress);
    // A file that was read all through takes a while to be unmapped, too.
    report.source =
        std::make_shared<std::pair<std::shared_ptr<const void>, std::unique_ptr<perfdata::Reader>>>(
            report.source, std::move(reader));
    return report;
  }
  if (options.display)
    throw Error(ErrorKind::usage, "this recording has no data sources, which -d needs",
                "Leave the option out: it is for recordings of memory samples.");
  return analysis::analyze(*reader, recording,
                           {.showAll = options.showAll,
                            .callers = options.callers,
                            .doubleLine = options.doubleLine,
                            .coalesce = options.coalesce,
                            .filter = options.filter,
                            .symbols = options.symbols,
                            .threads = options.threads},
                           progress);
}

}  // namespace cacheline::profile
