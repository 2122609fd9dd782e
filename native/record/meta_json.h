// meta.json: what a recording folder says beside perf.data (schema cacheline-recording/1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibration/calibration.h"
#include "record/build_ids.h"
#include "record/child_process.h"
#include "record/source.h"
#include "record/target.h"

namespace cacheline::record {

/// Heap blocks: `lost` were not recorded; of those below 64 bytes 1 in `sampling` is, above the rate.
struct HeapCounts {
  uint64_t sampling = 0, blocks = 0, lost = 0;
};

/// A stronger or equal collector that this recording does not use.
struct NotTaken {
  std::string collector, reason;  ///< "pmu", one clause
};

/// The document; RecordingMeta in extension/protocol/report.ts is its reader's type.
struct Meta {
  std::vector<std::string> command;
  std::string workingDirectory;  ///< absolute
  std::string startedAt;         ///< ISO 8601, UTC
  std::string collector, collectorReason;
  std::vector<NotTaken> notTaken;
  Target target;
  uint32_t frequency = 0;         ///< Hz; 0 where there is a period
  uint64_t period = 0;            ///< events a sample; 0: by frequency
  std::optional<uint32_t> ldlat;  ///< cycles: faster loads were not sampled; empty: no such filter
  double durationSeconds = 0;     ///< recorded; 0 while it runs
  std::optional<Ending> program;  ///< empty while it runs, and where none was started
  uint64_t samples = 0, lost = 0;
  SwitchRecords switches;
  std::optional<HeapCounts> heap;  ///< empty: heap blocks were not recorded
  bool interrupted = false;
  std::vector<std::string> warnings;
  std::string hostname, kernel, cpu;
  uint32_t cpus = 0;        ///< online
  uint32_t usableCpus = 0;  ///< on which the recorded processes may run
  uint32_t lineSize = 0;
  /// What contention costs on this CPU model; empty: `doctor --calibrate` never measured it.
  std::optional<calibration::Calibration> calibration;
  /// JSON objects of machine/where_json.h: the machine, and where threads and memory were (empty: it has one
  /// NUMA node, or the whole machine is recorded).
  std::string topology, placement;
  std::vector<RecordedBinary> binaries;
};

/// Texts that are no UTF-8 (file names may hold any bytes) get U+FFFD for each wrong byte.
std::string metaJson(const Meta& meta);

/// Replaces directory/meta.json in one step: a reader sees the old or the new one. Throws Error(io).
void writeMeta(const std::string& directory, const Meta& meta);

}  // namespace cacheline::record
