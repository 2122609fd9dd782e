// NUMA nodes of CPUs, from the header of a recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "perfdata/features.h"

namespace cacheline::analysis {

/// CPU numbers of a list as the kernel writes it ("0-3,8"); what cannot be parsed, or lies above 65535, is
/// left out.
std::vector<uint32_t> parseCpuList(std::string_view list);

class CpuNodes {
 public:
  explicit CpuNodes(const std::vector<perfdata::NumaNode>& nodes);
  std::optional<uint32_t> of(uint32_t cpu) const;
  /// The only node where there is just one: all memory is on it.
  std::optional<uint32_t> only() const { return only_; }

 private:
  std::vector<std::optional<uint32_t>> byCpu_;
  std::optional<uint32_t> only_;
};

}  // namespace cacheline::analysis
