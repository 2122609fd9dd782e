// The recorder's side of the memory that it shares with the sampling agent: a file in the recording's folder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "record/sampler_format.h"

namespace cacheline::record {

/// How much of the program the agent could not sample, so far.
struct AgentCounts {
  uint64_t images = 0;           ///< programs that started with the agent
  uint64_t unsampled = 0;        ///< threads without timer or ring
  uint64_t smallStacks = 0;      ///< threads whose stack has no room for a signal
  uint64_t smallAlternates = 0;  ///< threads whose alternate stack has none
  uint64_t leftHandlers = 0;     ///< threads that a handler left by longjmp with the agent's signal blocked
  uint64_t sealed = 0;           ///< processes that restricted their own system calls
  uint64_t go = 0;               ///< processes with code of Go's
  uint64_t lostMappings = 0;     ///< of which nothing is known
  uint64_t damaged = 0;          ///< rings with something in them that is no record: the program wrote there
  bool full = false;             ///< the disk was
  bool cut = false;              ///< the program cut the file short: nothing more is known
  int timerError = 0;            ///< errno of a timer that could not be had
};

class AgentMemory {
 public:
  /// Creates folder/agent. `wall`: by the wall clock. Throws Error(io).
  AgentMemory(const std::string& folder, uint64_t intervalNs, bool wall);
  /// Removes the file.
  ~AgentMemory();
  AgentMemory(const AgentMemory&) = delete;
  AgentMemory& operator=(const AgentMemory&) = delete;

  const std::string& path() const { return path_; }
  void enable(bool on);

  struct Drained {
    /// CLOCK_MONOTONIC, ns: no record that is yet to come has an earlier time.
    uint64_t complete = 0;
    uint64_t lost = 0;  ///< records, since the last call, for which there was no room
  };
  /// Gives every record that is complete, ring by ring.
  using Consume = std::function<void(std::span<const uint8_t> record)>;
  Drained drain(const Consume& consume);
  AgentCounts counts() const;

 private:
  /// Whether what is mapped is there: to touch it would end this process where the program cut the file
  /// short.
  bool isWhole() const;

  struct Slot {
    uint64_t idleAt = 0;  ///< when it was last seen not writing
    uint64_t lost = 0;    ///< of what is counted in its entry, what drain() has told
    bool damaged = false;
  };
  void read(uint64_t index, const Consume& consume);
  bool consumeWhole(std::span<const uint8_t> bytes, const Consume& consume);
  void give(uint64_t index);

  std::string path_;
  int fd_ = -1;
  sampler_file_header* header_ = nullptr;
  sampler_slot* slots_ = nullptr;
  std::vector<Slot> seen_;
  std::vector<uint8_t> buffer_;
  uint64_t lastDrain_, nextSweep_ = 0, damaged_ = 0;
  bool cut_ = false;
};

/// The kernel's tick, ns: 1 / CONFIG_HZ. The coarse clocks go by it.
uint64_t tickNs();
/// CLOCK_MONOTONIC, ns.
uint64_t monotonicNs();

}  // namespace cacheline::record
