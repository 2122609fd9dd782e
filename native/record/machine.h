// The machine a recording is made on, as perf.data's header features and meta.json describe it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "perfdata/features.h"

namespace cacheline::record {

/// Hostname, kernel, CPU, topology, NUMA nodes, PMUs and the resolution of CLOCK_MONOTONIC. What the kernel
/// does not say stays empty.
perfdata::Features describeMachine();

/// CPUs that are online, by number.
std::vector<uint32_t> onlineCpus();

/// coherency_line_size of the first level data cache, bytes; 64 where the kernel does not say.
uint32_t cacheLineSize();

/// "KVM", "VMware", "Xen", ... from CPUID's hypervisor leaf or the firmware's names; empty on bare metal;
/// "unknown" where the CPU says there is one, but not which.
std::string hypervisorName();

/// "docker", "podman", ... ; empty where none shows.
std::string containerName();

/// The running kernel's build id in hex, from the notes in /sys/kernel/notes; empty where unreadable.
std::string kernelBuildId();

}  // namespace cacheline::record
