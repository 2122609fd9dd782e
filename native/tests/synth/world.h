// The recorded machine and its processes: who maps what where, and which cache lines there are to access.
//
// Process 0 executes the program; an odd process is forked from the one before it and keeps its mappings; an
// even one executes the program itself and maps shared memory at addresses of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "binary.h"
#include "options.h"
#include "scenario.h"
#include "tests/perfdata/record_builder.h"

namespace cacheline::synth {

enum class Region : uint8_t {
  anonymous,
  heap,
  sharedMemory,
  sharedFile,
  staticData,
  kernelImage,
  kernelHeap
};
inline constexpr size_t kRegions = 7;

constexpr bool isKernel(Region region) {
  return region == Region::kernelImage || region == Region::kernelHeap;
}

inline constexpr uint8_t kAnyProcess = 0xff;

struct Line {
  Region region;
  uint8_t process;  ///< the only one that accesses it, or kAnyProcess
  bool contended;
  uint32_t index;  ///< among the lines of its region (and process)
};

class World {
 public:
  World(const Options& options, const Scenario& scenario, const Binary& binary);

  const std::vector<Line>& lines() const { return lines_; }
  /// Where `process` sees the line's first byte.
  uint64_t address(const Line& line, uint32_t process) const {
    return bases_[process][static_cast<size_t>(line.region)] + uint64_t{line.index} * 64;
  }
  /// Added to the program's own addresses.
  uint64_t codeBias(uint32_t process) const { return codeBias_[process]; }
  /// What tells lines apart, as the report names it: "pid 5000", "kernel" or "file DEVICE:INODE".
  const std::string& space(const Line& line, uint32_t process) const {
    return spaces_[process][static_cast<size_t>(line.region)];
  }
  /// The line's first byte in its space: a file offset or an address.
  uint64_t key(const Line& line, uint32_t process) const;

  static uint32_t pid(uint32_t process) { return 5000 + 100 * process; }
  static uint32_t tid(uint32_t process, uint32_t thread) { return pid(process) + thread; }

  /// Kernel, processes, threads and mappings, from `time` on, 1 us each.
  void announce(perfdata::testing::RecordBuilder& records, uint64_t time) const;
  /// The end of the last process.
  void leave(perfdata::testing::RecordBuilder& records, uint64_t time) const;

  static constexpr uint64_t kKernelText = 0xffffffff81000000, kKernelBytes = 0x2000000;
  static constexpr uint64_t kNothingMapped = 0x700000000000;

 private:
  void placeLines(const Options& options, const Scenario& scenario, const Binary& binary);
  void map(perfdata::testing::RecordBuilder& records, uint32_t process) const;

  const Binary& binary_;
  uint32_t cpus_, processes_, threads_;
  bool sysv_;
  std::vector<Line> lines_;
  std::vector<std::vector<uint64_t>> bases_;                         ///< [process][region]
  std::vector<std::vector<std::string>> spaces_;                     ///< [process][region]
  std::vector<uint64_t> codeBias_;                                   ///< [process]
  std::vector<uint64_t> linesIn_ = std::vector<uint64_t>(kRegions);  ///< the most of any process
};

}  // namespace cacheline::synth
