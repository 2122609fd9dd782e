// Reads /sys/bus/event_source/devices (Documentation/ABI/testing/sysfs-bus-event_source-devices-*).
#include "record/pmu.h"

#include <cstdlib>
#include <string_view>

#include "record/procfs.h"

namespace cacheline::record {
namespace {

/// The value of `key` in "event=0xcd,umask=0x1,ldlat=3"; 0 where it is absent.
uint64_t termOf(const std::string& terms, const std::string& key) {
  size_t at = 0;
  while (at < terms.size()) {
    const size_t end = std::min(terms.find(',', at), terms.size());
    const std::string term = terms.substr(at, end - at);
    if (term.starts_with(key + "=")) return std::strtoull(term.c_str() + key.size() + 1, nullptr, 0);
    at = end + 1;
  }
  return 0;
}

}  // namespace

std::vector<Pmu> listPmus(const std::string& folder) {
  std::vector<Pmu> pmus;
  for (const std::string& name : listDirectory(folder)) {
    const std::optional<int64_t> type = readNumber(folder + "/" + name + "/type");
    if (type && *type >= 0) pmus.push_back({static_cast<uint32_t>(*type), name});
  }
  return pmus;
}

std::optional<MemoryPmu> findMemoryPmu(const std::string& folder) {
  for (const Pmu& pmu : listPmus(folder)) {
    // Intel's format: event in bits 0-7 and umask in bits 8-15 of config, the latency threshold in config1.
    if (const auto terms = readText(folder + "/" + pmu.name + "/events/mem-loads"))
      return MemoryPmu{pmu, pmu.name + "/mem-loads/", termOf(*terms, "event") | termOf(*terms, "umask") << 8,
                       termOf(*terms, "ldlat")};
    if (pmu.name == "ibs_op" || pmu.name.starts_with("arm_spe_"))
      return MemoryPmu{pmu, pmu.name + "//", 0, 0};
  }
  return std::nullopt;
}

}  // namespace cacheline::record
