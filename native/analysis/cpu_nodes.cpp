// CPU lists and nodes.
#include "analysis/cpu_nodes.h"

#include <charconv>

namespace cacheline::analysis {

namespace {
constexpr uint32_t kMaxCpu = 65535;
}

std::vector<uint32_t> parseCpuList(std::string_view list) {
  std::vector<uint32_t> cpus;
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), item.size() + 1));
    const char* const end = item.data() + item.size();
    uint32_t first = 0;
    auto parsed = std::from_chars(item.data(), end, first);
    if (parsed.ec != std::errc{}) continue;
    uint32_t last = first;
    if (parsed.ptr != end && *parsed.ptr == '-') parsed = std::from_chars(parsed.ptr + 1, end, last);
    if (parsed.ec != std::errc{} || parsed.ptr != end || last > kMaxCpu) continue;
    for (uint32_t cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

CpuNodes::CpuNodes(const std::vector<perfdata::NumaNode>& nodes) {
  if (nodes.size() == 1) only_ = nodes[0].node;
  for (const perfdata::NumaNode& node : nodes) {
    for (const uint32_t cpu : parseCpuList(node.cpus)) {
      if (byCpu_.size() <= cpu) byCpu_.resize(cpu + 1);
      byCpu_[cpu] = node.node;
    }
  }
}

std::optional<uint32_t> CpuNodes::of(uint32_t cpu) const {
  if (only_) return only_;
  return cpu < byCpu_.size() ? byCpu_[cpu] : std::nullopt;
}

}  // namespace cacheline::analysis
