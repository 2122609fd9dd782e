// Copies of per-CPU variables, by where they start.
#include "analysis/per_cpu.h"

#include <iterator>

namespace cacheline::analysis {

void PerCpuCopies::learn(uint64_t variable, uint64_t address, std::optional<uint32_t> cpu) {
  constexpr uint64_t kPage = 4096;  // copies begin at pages, as the section does
  const uint64_t inSection = variable - section_.address;
  const uint64_t start = address - inSection;
  if (inSection >= section_.size || start > address || start % kPage != section_.address % kPage) return;
  const auto [it, added] = starts_.try_emplace(start, cpu);
  if (!added && it->second != cpu) it->second.reset();
}

std::optional<PerCpuCopies::Found> PerCpuCopies::at(uint64_t address) const {
  const auto after = starts_.upper_bound(address);
  if (after == starts_.begin()) return std::nullopt;
  const auto& [start, cpu] = *std::prev(after);
  constexpr uint64_t kModules = 8192;  // PERCPU_MODULE_RESERVE: behind the kernel's own
  const uint64_t offset = address - start;
  if (offset >= section_.size + kModules) return std::nullopt;
  return Found{section_.address + offset, offset >= section_.size, cpu};
}

}  // namespace cacheline::analysis
