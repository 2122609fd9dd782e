// What watchpoints leave on disk beside perf.data: the hits and the windows in which they were looked for.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "perfdata/writer.h"
#include "record/watch_events.h"
#include "record/watch_request.h"

namespace cacheline::record {

/// One word in one window. Times are CLOCK_MONOTONIC, ns.
struct WatchedWord {
  WatchWord word;
  uint64_t start = 0, end = 0;  ///< hits of the window lie in here
  uint64_t watchedNs = 0;       ///< within, the time in which every thread was watched
  uint64_t hits = 0, lost = 0;  ///< lost: hits of the whole window that the ring had no room for
  std::string cut;              ///< what ended the window early: "hits", "throttled", "end"; empty: nothing
};

/// FOLDER/watch.data and FOLDER/watch.jsonl. Readable up to the last window at any moment.
class WatchLog {
 public:
  /// Throws Error(io), as do the others.
  WatchLog(const std::string& folder, const perf_event_attr& attr, const std::vector<uint64_t>& ids);
  /// Of one drain, by time.
  void add(const std::vector<WatchHit>& hits);
  /// A window is over: its hits are added.
  void close(const std::vector<WatchedWord>& words);
  void finish();

 private:
  std::string linesPath_;
  std::unique_ptr<perfdata::Writer> data_;
  UniqueFd lines_;
  uint64_t first_ = 0, last_ = 0;  ///< hits, ns
};

}  // namespace cacheline::record
