// A recording on disk: where its perf.data is and what its meta.json says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cacheline::analysis {

struct RecordedBinary {
  std::string path, buildId;
  uint64_t size = 0;    ///< bytes
  int64_t mtimeNs = 0;  ///< since the epoch
  std::string root;     ///< "/proc/PID/root": it was mapped in another mount namespace, seen through this
};

/// What the analysis needs of meta.json; the defaults where there is none.
struct Meta {
  std::string json;  ///< the file verbatim; empty where there is none or it is no JSON object
  std::string collector;
  uint32_t lineSize = 64;   ///< bytes
  uint64_t heapBlocks = 0;  ///< that were recorded
  std::vector<RecordedBinary> binaries;
  std::vector<std::string> warnings;  ///< sentences about meta.json itself
  const RecordedBinary* find(const std::string& path) const;
};

struct Recording {
  std::string perfData;  ///< path
  std::string folder;    ///< of a recording folder; empty: a perf.data file alone
  Meta meta;
};

/// `path` is a recording folder or a perf.data file (whose meta.json is used where it lies in a folder named
/// *.cacheline). Throws Error(unreadable) where there is nothing to read. A damaged meta.json is a warning.
Recording openRecording(const std::string& path);

/// Parses meta.json. Never throws: what cannot be used is a warning.
Meta parseMeta(const std::string& json);

}  // namespace cacheline::analysis
