// What a report warns of, whatever kind of recording it is of.
#pragma once

#include <string>
#include <vector>

#include "analysis/binaries.h"
#include "analysis/caller_table.h"
#include "analysis/recording.h"
#include "analysis/report.h"
#include "analysis/timeline.h"
#include "analysis/watch_log.h"
#include "heap/allocations.h"
#include "perfdata/reader.h"

namespace cacheline::analysis {

struct WarningSources {
  const Recording& recording;
  const perfdata::Reader& reader;  ///< after the samples were read
  const Timeline& timeline;
  Binaries& binaries;
  const heap::Allocations* allocations = nullptr;  ///< null: none are used
  const WatchLog* watched = nullptr;               ///< null: nothing was watched
  bool cpusKnown = true;                           ///< samples carry CPU numbers
  std::string callersLeftOut = {};                 ///< see CallerTable::leftOutWarning()
};

/// Sentences, of a report whose lines are there. `own`: what only its kind of recording has to say.
std::vector<std::string> warningsOf(const WarningSources& sources, const Report& report,
                                    std::vector<std::string> own = {});

}  // namespace cacheline::analysis
