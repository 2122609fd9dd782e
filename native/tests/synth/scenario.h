// What differs between the recorded machines: events, data sources, and the odd cases that are made on
// purpose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "perfdata/event.h"

namespace cacheline::synth {

/// One kind of access.
struct Source {
  uint64_t word;    ///< PERF_MEM_*
  uint32_t share;   ///< of a thousand accesses
  uint32_t cycles;  ///< a typical load's latency
};

struct Scenario {
  std::string name;
  std::string arch = "x86_64";
  std::string cpuDesc, cpuId;
  std::vector<perfdata::Event> events;     ///< without ids
  uint16_t loadEvent = 0, storeEvent = 0;  ///< indices into `events`
  int emptyEvent = -1;                     ///< samples of it say nothing about memory
  std::string group;  ///< GROUP_DESC: the name of the first two events' group; empty: none
  std::vector<Source> contended, calm, stores;
  bool pipelineStages = false;  ///< WEIGHT_STRUCT's other two numbers are filled

  bool privateFile = false;      ///< two processes write their own copies of one binary's static data
  bool kernelOnUser = false;     ///< the kernel accesses user addresses
  bool unmappedTwice = false;    ///< several processes access an address that nothing is mapped at
  bool movedCode = false;        ///< one binary runs at two places
  bool sysv = false;             ///< shared memory is a System V segment, and has no device
  bool emptyHasAddress = false;  ///< samples without a data source have an address
  bool allModes = false;         ///< samples of hypervisor and guests
  bool memoryHoles = false;      ///< physical addresses of no node
  bool nodes = true;             ///< the recording says which CPUs are on which node
  bool physical = true;          ///< physical addresses are recorded
};

/// Throws Error(usage) where there is none of that name. `callchains`: samples carry them.
Scenario findScenario(const std::string& name, bool callchains);

}  // namespace cacheline::synth
