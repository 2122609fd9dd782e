// What differs between the recorded machines: events, data sources, and the odd cases that are made on
// purpose.
#include "scenario.h"

#include <linux/perf_event.h>

#include "base/error.h"
#include "sources.h"

namespace cacheline::synth {
namespace {

/// Memory sampling of one event. `sampleType` beside it: what `perf c2c record` asks for.
perfdata::Event memoryEvent(const std::string& name, uint64_t config, bool callchains,
                            uint64_t weight = PERF_SAMPLE_WEIGHT_STRUCT) {
  perfdata::Event event;
  event.name = name;
  perf_event_attr& attr = event.attr;
  attr.type = PERF_TYPE_RAW;  // known to every perf, whatever the machine that reads; the name says the rest
  attr.size = sizeof attr;
  attr.config = config;
  attr.freq = 1;
  attr.sample_freq = 4000;
  attr.precise_ip = 2;
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_DATA_SRC |
                     PERF_SAMPLE_PHYS_ADDR | weight;
  if (callchains) attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  attr.sample_id_all = attr.inherit = attr.exclude_guest = 1;
  return event;
}

Scenario intel(bool callchains) {
  Scenario s;
  s.cpuDesc = "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz";
  s.cpuId = "GenuineIntel,6,85,4";
  s.events = {memoryEvent("cpu/mem-loads,ldlat=30/P", 0x1cd, callchains),
              memoryEvent("cpu/mem-stores/P", 0x82d0, callchains)};
  s.events[0].attr.config1 = 30;
  s.storeEvent = 1;
  s.contended = kIntelContended;
  s.calm = kIntelCalm;
  s.stores = kIntelStores;
  return s;
}

/// Newer Intel cores give load latencies only beside another event in the same group.
Scenario intelAux(bool callchains) {
  Scenario s = intel(callchains);
  s.cpuDesc = "Intel(R) Xeon(R) Platinum 8480+";
  s.cpuId = "GenuineIntel,6,143,8";
  s.events.insert(s.events.begin(), memoryEvent("cpu/mem-loads-aux/", 0x8203, callchains));
  s.emptyEvent = 0;
  s.loadEvent = 1;
  s.storeEvent = 2;
  s.group = "{anon_group}";
  return s;
}

/// One event for loads, stores and instructions that are neither; its weight is one 64-bit number.
Scenario amd(bool callchains) {
  Scenario s;
  s.cpuDesc = "AMD EPYC 9654 96-Core Processor";
  s.cpuId = "AuthenticAMD,25,17,1";
  s.events = {memoryEvent("ibs_op//", 0, callchains, PERF_SAMPLE_WEIGHT)};
  s.contended = kAmdContended;
  s.calm = kAmdCalm;
  s.stores = kAmdStores;
  return s;
}

Scenario powerpc(bool callchains) {
  Scenario s;
  s.arch = "ppc64le";
  s.cpuDesc = "POWER10 (architected), altivec supported";
  s.cpuId = "00800200";
  s.events = {memoryEvent("cpu/mem-loads/", 0x67340101e0, callchains),
              memoryEvent("cpu/mem-stores/", 0x67340101e8, callchains)};
  s.storeEvent = 1;
  s.contended = kPowerContended;
  s.calm = kPowerCalm;
  s.stores = kPowerStores;
  s.pipelineStages = true;
  return s;
}

Scenario peer(bool callchains) {
  Scenario s;
  s.arch = "aarch64";
  s.cpuDesc = "Neoverse-N1";
  s.cpuId = "0x00000000413fd0c1";
  s.events = {memoryEvent("memory", 0, callchains)};
  s.contended = kArmContended;
  s.calm = kArmCalm;
  s.stores = kArmStores;
  return s;
}

}  // namespace

Scenario findScenario(const std::string& name, bool callchains) {
  Scenario s = intel(callchains);
  if (name == "intel-aux") {
    s = intelAux(callchains);
  } else if (name == "amd") {
    s = amd(callchains);
  } else if (name == "powerpc") {
    s = powerpc(callchains);
  } else if (name == "peer") {
    s = peer(callchains);
  } else if (name == "private-file") {
    s.privateFile = true;
  } else if (name == "kernel-on-user") {
    s.kernelOnUser = true;
  } else if (name == "unmapped") {
    s.unmappedTwice = true;
  } else if (name == "moved-code") {
    s.movedCode = true;
  } else if (name == "sysv") {
    s.sysv = true;
  } else if (name == "empty-with-address") {
    s.emptyHasAddress = true;
  } else if (name == "modes") {
    s.allModes = true;
  } else if (name == "memory-holes") {
    s.memoryHoles = true;
  } else if (name == "no-nodes") {
    s.nodes = false;
  } else if (name == "no-physical") {
    s.physical = false;
    for (perfdata::Event& event : s.events) event.attr.sample_type &= ~uint64_t{PERF_SAMPLE_PHYS_ADDR};
  } else if (name != "intel") {
    throw Error(ErrorKind::usage, "there is no scenario " + name);
  }
  s.name = name;
  perf_event_attr& tracking = s.events[0].attr;
  tracking.mmap = tracking.mmap2 = tracking.mmap_data = tracking.comm = tracking.comm_exec = tracking.task =
      1;
  return s;
}

}  // namespace cacheline::synth
