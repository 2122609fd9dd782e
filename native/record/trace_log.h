// What a trace leaves on disk beside perf.data: trace.jsonl, the objects that were followed. The hits are
// those of watchpoints (watch_log.h). docs/outputs.md has the fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "heap/trace_box.h"
#include "record/trace_request.h"

namespace cacheline::record {

/// One object that was followed for a while. Times are CLOCK_MONOTONIC, ns.
struct TracedObject {
  TraceObject object;
  uint64_t block = 0, blockSize = 0;        ///< bytes; 0: it is a variable
  std::optional<heap::TraceAct> allocated;  ///< empty: a variable
  std::optional<heap::TraceAct> freed;      ///< empty: not while it was followed
  uint64_t start = 0, end = 0;              ///< it was followed
  std::vector<uint32_t> words;              ///< indices into TraceSubject::words
  uint64_t hits = 0;
  std::string cut;  ///< why it was followed no longer: "hits", "time", "lost"; empty: it was freed, or the
                    ///< program ended
};

class TraceLog {
 public:
  /// Makes folder/trace.jsonl with what is traced. Throws Error(io), as do the others.
  TraceLog(const std::string& folder, const TraceSubject& subject);
  void add(const TracedObject& object);
  /// The last line. `costNs` of `elapsedNs` were taken by tracing; `refused`: blocks that were none of the
  /// type.
  void finish(uint64_t elapsedNs, uint64_t costNs, uint64_t refused);

 private:
  void write(std::string_view line);
  std::string path_;
  UniqueFd file_;
};

}  // namespace cacheline::record
