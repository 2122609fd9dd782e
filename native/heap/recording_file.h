// The recorder's side of an `allocations` file: it makes the file before the program starts and closes it
// after.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cacheline::heap {

/// What is recorded. The rates are a thread's own, in blocks a second of its CPU time.
struct RecordingLimits {
  uint64_t sampling = 64;    ///< below alwaysFrom, above the rate: 1 in so many blocks
  uint64_t alwaysFrom = 64;  ///< bytes
  uint64_t rate = 10'000;    ///< of blocks of alwaysFrom bytes and more; of smaller ones half as many besides
  uint64_t burst = 20'000;   ///< at once, likewise
  uint64_t fileBytes = 256u << 20;  ///< at most; frees may take a quarter more
};

struct RecordingCounts {
  uint64_t blocks = 0, lost = 0;
  uint64_t processes = 0;  ///< program images that started with the agent
  /// Of those lost: above the rate; without a place in the table of live blocks; allocated in signal handlers
  /// while another was recorded. The rest had no place in the file.
  uint64_t lostRate = 0, lostTable = 0, lostNested = 0;
  bool limitReached = false;  ///< the file's
  bool diskFull = false;
};

class RecordingFile {
 public:
  /// Creates folder/allocations. Throws Error(io).
  static std::unique_ptr<RecordingFile> create(const std::string& folder, const RecordingLimits& limits);
  virtual ~RecordingFile() = default;
  /// Sets the two clocks against each other: call it now and then, and at the end.
  virtual void tick() = 0;
  /// Of what is in the file now.
  virtual RecordingCounts counts() const = 0;

  /// The changes to `environment` ("NAME=value" entries) that load `agent` into a program; an LD_PRELOAD that
  /// is there is kept behind it. Throws Error(impossible) where the agent does not exist or its path cannot
  /// be preloaded.
  virtual std::vector<std::string> preload(const std::string& agent,
                                           const std::vector<std::string>& environment) = 0;
};

}  // namespace cacheline::heap
