// What an SPE record says about where its data came from, in the PERF_MEM_* terms of <linux/perf_event.h>.
//
// The data source packet is implementation defined: its meaning depends on the CPU model (MIDR_EL1). CPUs of
// no known meaning are read by their events alone. Sources of the facts:
//
// - Arm's cores: Technical Reference Manuals of Neoverse N1, N2, V1 and V2, "Statistical Profiling Extension
//   data source packet"; the same in all cores of the table. How they map to PERF_MEM_*: Linux 6.1,
//   tools/perf/util/arm-spe.c (6.1.187), which knows N1, N2 and V1. Later kernels added cores to the list, up
//   to Neoverse V3 and NVIDIA Olympus.
// - AmpereOne and HiSilicon HIP12, and the events of L2, snoops and modified lines: later kernels; 6.1 knows
//   nothing of them.
//
// Where later kernels changed what 6.1 does, 6.1 stands: for CPUs of no known meaning, last-level events win
// over first-level ones. Three differences to 6.1:
//
// - Without a data source packet, 6.1 reads the absent source as 0, a hit in L1. Here the events decide.
// - For a source that is not in the table, 6.1 says no level. Here the events decide, as in later kernels.
// - Levels of events set LVLNUM beside LVL, as in later kernels; 6.1 sets LVL only.
#pragma once

#include <cstdint>

#include "spe/record.h"

namespace cacheline::spe {

/// Which table explains a CPU's data source packets.
enum class SourceMeaning : uint8_t { events, arm, ampereOne, hisilicon };

/// `midr`: MIDR_EL1 of the CPU that took the record; 0: unknown.
SourceMeaning sourceMeaning(uint64_t midr);

/// Data source codes of Arm's cores.
enum ArmSource : uint8_t {
  kArmL1d = 0x0,
  kArmL2 = 0x8,
  kArmPeerCore = 0x9,
  kArmLocalCluster = 0xa,
  kArmSystemCache = 0xb,
  kArmPeerCluster = 0xc,
  kArmRemote = 0xd,
  kArmDram = 0xe,
};

/// A perf_mem_data_src word: OP, LVL, LVLNUM, SNOOP, SNOOPX, REMOTE, TLB. 0 where the record is no load or
/// store. An atomic is the load or store that the CPU calls it; LOCK is not set, as in perf.
uint64_t dataSourceWord(const SpeRecord& record, SourceMeaning meaning);

}  // namespace cacheline::spe
