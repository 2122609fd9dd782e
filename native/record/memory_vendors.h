// What the memory PMUs of all vendors have in common; one .cpp file a vendor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/memory_plan.h"
#include "record/sysfs_events.h"

namespace cacheline::record {

struct MemoryRequest {
  const Kernel& kernel;
  const RecordOptions& options;
  const Permissions& permissions;
};

/// In what one attempt differs from the next.
struct MemoryStep {
  bool kernel = true;    ///< samples in the kernel
  bool physical = true;  ///< physical addresses
  bool modern = true;    ///< WEIGHT_STRUCT (Linux 5.12) and DATA_PAGE_SIZE (5.11), else WEIGHT
};

/// From most to least demanding.
std::vector<MemoryStep> memorySteps(const MemoryRequest& request);

/// An attribute without its type and config: what is sampled, when it starts, and by frequency or period.
/// `warnings`: where the frequency is lowered.
perf_event_attr memoryAttr(const MemoryRequest& request, const MemoryStep& step,
                           std::vector<std::string>& warnings);

/// Makes the event the one that records mappings, names and threads on its CPUs.
void trackProcesses(perf_event_attr& attr);

/// Sentences for an attempt that leaves out what was asked for.
std::vector<std::string> stepWarnings(const MemoryRequest& request, const MemoryStep& step);

/// Whether the kernel lets this user sample in it, and see physical addresses.
bool mayProfileKernel(const Permissions& permissions);

/// "cpu:type:x86,ven0002fam0019mod0001:feature:,0000,…" of sysfs.
struct CpuIdentity {
  std::string architecture;      ///< "x86", "aarch64"; empty: unknown
  uint32_t vendor = UINT32_MAX;  ///< Linux's X86_VENDOR_*: 0 Intel, 2 AMD, 9 Hygon
  uint32_t family = 0, model = 0;
  bool guest = false;  ///< the CPU says that it runs under a hypervisor (x86 only)
};
inline constexpr uint32_t kVendorAmd = 2;
CpuIdentity cpuIdentity(const std::string& sysfs);

/// PMUs with an event mem-loads that takes a latency.
Planned planIntel(const MemoryRequest& request, const std::vector<SysfsPmu>& pmus);
Planned planAmd(const MemoryRequest& request, const SysfsPmu& ibs);
Planned planArm(const MemoryRequest& request, const std::vector<SysfsPmu>& pmus);

}  // namespace cacheline::record
