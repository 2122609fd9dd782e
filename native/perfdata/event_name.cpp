// Names of events from type and config. Source of the numbers: enum perf_hw_id, perf_sw_ids and
// perf_hw_cache_* of <linux/perf_event.h>.
#include "perfdata/event_name.h"

#include <cstddef>
#include <iterator>

#include "perfdata/bytes.h"

namespace cacheline::perfdata {
namespace {

constexpr const char* kHardware[] = {
    "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
    "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
constexpr const char* kSoftware[] = {"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
                                     "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
                                     "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
constexpr const char* kCaches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"};
constexpr const char* kOperations[] = {"load", "store", "prefetch"};
constexpr const char* kOperationsMany[] = {"loads", "stores", "prefetches"};

template <size_t kCount>
std::string nameIn(const char* const (&names)[kCount], uint64_t index) {
  return index < kCount ? names[index] : std::string();
}

std::string cacheName(uint64_t config) {
  const uint64_t cache = config & 0xff, operation = config >> 8 & 0xff, result = config >> 16 & 0xff;
  if (cache >= std::size(kCaches) || operation >= std::size(kOperations) || result > 1) return {};
  return std::string(kCaches[cache]) + "-" +
         (result == 0 ? std::string(kOperationsMany[operation])
                      : std::string(kOperations[operation]) + "-misses");
}

std::string baseName(const perf_event_attr& attr,
                     const std::vector<std::pair<uint32_t, std::string>>& pmuMappings) {
  std::string name;
  switch (attr.type) {
    case PERF_TYPE_HARDWARE:
      name = nameIn(kHardware, attr.config & 0xffffffff);  // above: which of several kinds of cores
      break;
    case PERF_TYPE_SOFTWARE:
      name = nameIn(kSoftware, attr.config);
      break;
    case PERF_TYPE_TRACEPOINT:
      return "tracepoint " + std::to_string(attr.config);
    case PERF_TYPE_HW_CACHE:
      name = cacheName(attr.config);
      break;
    case PERF_TYPE_BREAKPOINT:
      return "mem:" + hexNumber(attr.bp_addr);
    default:
      break;
  }
  if (!name.empty()) return name;
  std::string pmu = attr.type == PERF_TYPE_RAW ? "cpu" : "pmu-type-" + std::to_string(attr.type);
  for (const auto& [type, known] : pmuMappings) {
    if (type == attr.type) pmu = known;
  }
  return pmu + "/config=" + hexNumber(attr.config) + "/";
}

}  // namespace

std::string eventName(const perf_event_attr& attr,
                      const std::vector<std::pair<uint32_t, std::string>>& pmuMappings) {
  std::string name = baseName(attr, pmuMappings);
  if (attr.exclude_kernel != 0 && attr.exclude_user == 0) return name + ":u";
  if (attr.exclude_user != 0 && attr.exclude_kernel == 0) return name + ":k";
  return name;
}

}  // namespace cacheline::perfdata
