// The perf.data file format: constants that <linux/perf_event.h> does not hold.
// Source: tools/perf/Documentation/perf.data-file-format.txt of the Linux kernel.
#pragma once

#include <linux/perf_event.h>

#include <cstdint>

namespace cacheline::perfdata {

inline constexpr uint64_t kMagic = 0x32454c4946524550ull;          // "PERFILE2"
inline constexpr uint64_t kMagicVersion1 = 0x454c494646524550ull;  // "PERFFILE", until 2012

/// A range of the file, in bytes from its start.
struct FileSection {
  uint64_t offset = 0, size = 0;
};

/// The first bytes of a file-mode perf.data.
struct FileHeaderBytes {
  uint64_t magic = kMagic;
  uint64_t size = 0;      ///< of this struct; kPipeHeaderSize in pipe mode
  uint64_t attrSize = 0;  ///< of one entry of `attrs`: a perf_event_attr and the FileSection of its ids
  FileSection attrs, data, eventTypes;
  uint64_t features[4] = {};  ///< bit n set: feature n has a section, see Feature
};
static_assert(sizeof(FileHeaderBytes) == 104);
inline constexpr uint64_t kPipeHeaderSize = 16;             // magic and size only; attributes come as records
inline constexpr uint64_t kHeaderSizeWithoutFeatures = 72;  // of files older than the feature bits

/// Strings and file names in feature sections are padded with zeros to a multiple of this.
inline constexpr uint32_t kStringAlignment = 64;

/// perf_event_header.misc bit of a build-id entry: the byte after the id holds its size.
inline constexpr uint16_t kMiscBuildIdSize = 1 << 15;
/// A build-id entry: perf_event_header, int32_t pid, 20 bytes of id, its size, 3 zero bytes; then the padded
/// path.
inline constexpr uint32_t kBuildIdEntrySize = 36;
inline constexpr uint32_t kMaxBuildIdBytes = 20;

/// perf_event_attr.read_format, Linux 6.0 (PERF_FORMAT_LOST): named here for older headers.
inline constexpr uint64_t kReadFormatLost = 1 << 4;
/// perf_event_attr.branch_sample_type, Linux 6.8 (PERF_SAMPLE_BRANCH_COUNTERS): a counter word for each
/// branch follows the branches.
inline constexpr uint64_t kBranchSampleCounters = 1ull << 19;

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

/// What an event-update record updates.
enum EventUpdate : uint64_t { kEventUpdateUnit = 0, kEventUpdateScale, kEventUpdateName, kEventUpdateCpus };

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
  kFeatureCpuDomainInfo = 32,
  kFeatureEMachine = 33,
  kFeatureCacheLineSize = 34,
  kFeatureCount = 256,  // the header holds 256 bits
};

}  // namespace cacheline::perfdata
