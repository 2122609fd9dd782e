// The data caches, cores and CPUs of the recorded machine, as its meta.json says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cacheline::analysis {

struct DataCache {
  uint32_t level = 0;
  std::string type;                   ///< "Data" or "Unified"
  uint64_t bytes = 0, lineBytes = 0;  ///< not 0
  std::optional<uint64_t> ways;       ///< lines of a set; empty: not known
  std::vector<uint32_t> cpus;         ///< that share it, ascending
  bool shared = false;                ///< by several cores
  uint64_t lines() const { return bytes / lineBytes; }
  /// Empty: the ways are not known.
  std::optional<uint64_t> sets() const;
};

/// By level and first CPU. Of `topology` in meta.json; empty where that says nothing of caches. What is
/// malformed is left out. Never throws.
std::vector<DataCache> cachesOf(const std::string& metaJson);

/// The CPUs of each core, ascending, of the same; none is empty.
std::vector<std::vector<uint32_t>> coresOf(const std::string& metaJson);

/// On how many CPUs the recorded processes could run; empty where meta.json does not say. Never throws.
std::optional<uint32_t> usableCpusOf(const std::string& metaJson);

}  // namespace cacheline::analysis
