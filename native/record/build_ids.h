// The binaries a recording saw: read while they are mapped, so that a later change is noticed.
#pragma once

#include <cstdint>
#include <ctime>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "perfdata/features.h"

namespace cacheline::record {

struct RecordedBinary {
  std::string path;
  std::string buildId;  ///< hex; empty where the file has none
  uint64_t size = 0;    ///< bytes
  int64_t mtimeNs = 0;  ///< since the epoch
  std::string root;     ///< of a process in another mount namespace: what `path` is below, seen from here
};

class BuildIds {
 public:
  /// `start` (CLOCK_REALTIME): a file that was changed after it may not be the one that was mapped.
  explicit BuildIds(const timespec& start) : start_(start) {}

  /// Looks at a PERF_RECORD_MMAP2: the file of an executable mapping is read once.
  void onMmap2(std::span<const uint8_t> record);

  const std::vector<RecordedBinary>& binaries() const { return binaries_; }
  /// Paths whose file was replaced before it could be read: without build id.
  const std::vector<std::string>& replaced() const { return replaced_; }
  /// For the build id feature of perf.data.
  std::vector<perfdata::BuildIdEntry> entries() const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  timespec start_;
  std::unordered_set<std::string, Hash, std::equal_to<>> seen_;
  std::vector<RecordedBinary> binaries_;
  std::vector<std::string> replaced_;
};

}  // namespace cacheline::record
