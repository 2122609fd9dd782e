// What the recorder's watchpoints left beside perf.data: watch.data (hits) and watch.jsonl (windows).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/address_space.h"
#include "analysis/sample_filter.h"
#include "base/registers.h"

namespace cacheline::analysis {

/// One word in one window. Times are the recording's clock, ns; hits lie in [start, end].
struct WatchWindow {
  uint32_t pid = 0, length = 0;  ///< bytes
  uint64_t address = 0, start = 0, end = 0;
  uint64_t watchedNs = 0;  ///< in which all threads were watched
  std::string name;        ///< for a person
};

/// One trapped access. Of the many hits of one instruction on one word only the first have registers.
struct WatchTrap {
  uint64_t time = 0, ip = 0, address = 0;  ///< address: of the watched word
  uint32_t pid = 0, tid = 0, cpu = 0;
  uint32_t registers = kNone;  ///< index into WatchLog::registers
};

struct WatchLog {
  std::vector<WatchWindow> windows;  ///< by start
  std::vector<WatchTrap> traps;      ///< by time
  std::vector<Registers> registers;
  std::vector<std::string> warnings;  ///< what of it cannot be read

  /// Null where nothing was watched in this recording. Never throws: what cannot be read is a warning.
  static std::unique_ptr<WatchLog> open(const std::string& folder);
  /// Leaves out the traps that a filter of samples does. `firstTime`: of the samples, ns.
  void keep(const Filter& filter, uint64_t firstTime);
  /// Parses a line of watch.jsonl; false where it is none.
  static bool parseWindow(const std::string& line, WatchWindow& window);
};

}  // namespace cacheline::analysis
