// Which CPUs are threads of one core, as a recording's meta.json says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cacheline::analysis {

/// CPUs of one core share its first-level cache: a line does not move between them.
class CpuCores {
 public:
  CpuCores() = default;
  /// Of `topology` in meta.json, which is untrusted: what is malformed is left out. Never throws.
  explicit CpuCores(const std::string& metaJson);
  /// The first CPU of the core; where the recording says nothing of a CPU, that CPU itself.
  uint32_t of(uint32_t cpu) const { return cpu < coreOf_.size() ? coreOf_[cpu] : cpu; }

 private:
  std::vector<uint32_t> coreOf_;  ///< by CPU
};

}  // namespace cacheline::analysis
