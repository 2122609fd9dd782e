// The perf.data file format: constants that <linux/perf_event.h> does not hold.
// Source: tools/perf/Documentation/perf.data-file-format.txt of the Linux kernel.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>

namespace cacheline::perfdata {

inline constexpr uint64_t kMagic = 0x32454c4946524550ull;  // "PERFILE2"

/// User-space record types (PERF_RECORD_USER_TYPE_START = 64).
enum UserRecord : uint32_t {
  kRecordHeaderAttr = 64,
  kRecordHeaderEventType = 65,
  kRecordHeaderTracingData = 66,
  kRecordHeaderBuildId = 67,
  kRecordFinishedRound = 68,
  kRecordIdIndex = 69,
  kRecordAuxtraceInfo = 70,
  kRecordAuxtrace = 71,
  kRecordAuxtraceError = 72,
  kRecordThreadMap = 73,
  kRecordCpuMap = 74,
  kRecordStatConfig = 75,
  kRecordStat = 76,
  kRecordStatRound = 77,
  kRecordEventUpdate = 78,
  kRecordTimeConv = 79,
  kRecordHeaderFeature = 80,
  kRecordCompressed = 81,
  kRecordFinishedInit = 82,
  kRecordCompressed2 = 83,
};

/// Header feature bits.
enum Feature : uint32_t {
  kFeatureTracingData = 1,
  kFeatureBuildId = 2,
  kFeatureHostname = 3,
  kFeatureOsRelease = 4,
  kFeatureVersion = 5,
  kFeatureArch = 6,
  kFeatureNrCpus = 7,
  kFeatureCpuDesc = 8,
  kFeatureCpuId = 9,
  kFeatureTotalMem = 10,
  kFeatureCmdline = 11,
  kFeatureEventDesc = 12,
  kFeatureCpuTopology = 13,
  kFeatureNumaTopology = 14,
  kFeatureBranchStack = 15,
  kFeaturePmuMappings = 16,
  kFeatureGroupDesc = 17,
  kFeatureAuxtrace = 18,
  kFeatureStat = 19,
  kFeatureCache = 20,
  kFeatureSampleTime = 21,
  kFeatureMemTopology = 22,
  kFeatureClockId = 23,
  kFeatureDirFormat = 24,
  kFeatureBpfProgInfo = 25,
  kFeatureBpfBtf = 26,
  kFeatureCompressed = 27,
  kFeatureCpuPmuCaps = 28,
  kFeatureClockData = 29,
  kFeatureHybridTopology = 30,
  kFeaturePmuCaps = 31,
  kFeatureCount = 256,  // the header holds 256 bits
};

}  // namespace cacheline::perfdata
