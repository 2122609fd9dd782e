// Reading of the cores of meta.json.
#include "analysis/cpu_cores.h"

#include "analysis/caches.h"

namespace cacheline::analysis {

CpuCores::CpuCores(const std::string& metaJson) {
  constexpr uint32_t kMostCpus = 1 << 16;
  for (const std::vector<uint32_t>& cpus : coresOf(metaJson)) {
    for (const uint32_t cpu : cpus) {
      if (cpu >= kMostCpus) continue;
      for (auto next = static_cast<uint32_t>(coreOf_.size()); next <= cpu; ++next) coreOf_.push_back(next);
      coreOf_[cpu] = cpus.front();
    }
  }
}

}  // namespace cacheline::analysis
