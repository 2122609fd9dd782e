// JSON of the machine and of what was seen of processes on it.
#pragma once

#include <string>
#include <vector>

#include "machine/placement.h"
#include "machine/topology.h"

namespace cacheline::machine {

/// `topology` of cacheline-recording/1 and `machine` of cacheline-where/1: packages, cores, caches,
/// distances.
std::string topologyJson(const Topology& topology);

/// `placement` of cacheline-recording/1: bytes by node and run time by thread and CPU, of a few looks.
std::string placementJson(const Topology& topology, const Placement& placement);

/// A document of the schema cacheline-where/1. `command`: as in concludeFrom().
std::string whereJson(const Topology& topology, const Placement& placement,
                      const std::vector<std::string>& command);

}  // namespace cacheline::machine
