// How the samples of a report part by who made them, on which CPU and when: what tables are added up from.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/code_name.h"

namespace cacheline::analysis {

/// A number that is not known, or that was not asked for.
inline constexpr uint32_t kNoSplit = ~uint32_t{0};

/// Equal parts of the time of the samples that a filter keeps, numbered from 0.
struct TimeBins {
  uint64_t origin = 0;           ///< of the recording's first sample, ns
  uint64_t first = 0, last = 0;  ///< of the samples that are kept, ns
  uint32_t count = 1;            ///< at least 1
  /// The part that a time (ns) is in; kNoSplit: it is no time, or in none.
  uint32_t of(uint64_t time) const;
  /// Where part `bin` begins, and where part count - 1 ends: seconds since the recording's first sample.
  double secondsAt(uint32_t bin) const;
};

/// By what samples are to be told apart, beside their threads.
struct SplitBy {
  bool cpus = false;
  uint32_t bins = 0;  ///< parts of the time; 0: none are asked for
};

/// Why a sample has no place on a line: the names of samples.unattributed.
enum class UnplacedReason : uint8_t {
  kernel,
  noInstruction,
  noMemoryOperand,
  clobbered,
  threadLocal,
  unmapped
};
const char* unplacedReasonName(UnplacedReason reason);

/// What one thread did on one CPU in one part of the time.
struct SplitPlace {
  uint32_t thread = kNoSplit;  ///< index of Splits::threads
  uint32_t cpu = kNoSplit, bin = kNoSplit;
  auto operator<=>(const SplitPlace&) const = default;
};

/// What memory samples say beyond who and where, in samples. `llc` leaves local HITMs out.
struct MemoryCounts {
  uint64_t localHitm = 0, remoteHitm = 0, localPeer = 0, remotePeer = 0;
  uint64_t fillBuffer = 0, l1 = 0, l2 = 0, llc = 0, remoteHit = 0, localDram = 0, remoteDram = 0;
  uint64_t storeL1Hit = 0, storeL1Miss = 0, storeNa = 0;
  void add(const MemoryCounts& other);
};

/// Part of the samples of one access of the report.
struct AccessSplit {
  SplitPlace place;
  uint64_t samples = 0, loads = 0, stores = 0;
  uint64_t misses = 0;     ///< of memory samples: whose first cache did not have the line
  uint64_t contended = 0;  ///< the parts of an access add up to its own
  uint64_t periods = 0;    ///< of clock samples: the time that they stand for, ns
  MemoryCounts counts;     ///< of memory samples
};

/// Samples without a place on a line.
struct UnplacedSamples {
  UnplacedReason reason = UnplacedReason::kernel;
  SharedName code = noName();  ///< where it is known
  bool codeKnown = false;
  SplitPlace place;
  uint64_t samples = 0;
  /// Of memory samples, which lack an address; as AccessSplit.
  uint64_t loads = 0, stores = 0, misses = 0;
  MemoryCounts counts;
};

struct SplitThread {
  uint32_t pid = 0, tid = 0;
  std::string comm;         ///< empty: unknown
  std::string processComm;  ///< of the main thread; empty: unknown
};

struct Splits {
  std::vector<SplitThread> threads;
  std::vector<UnplacedSamples> unplaced;
  std::vector<std::optional<uint32_t>> nodes;  ///< by CPU, of those that were seen
  std::optional<TimeBins> bins;
  bool memory = false;    ///< memory samples: their counts say where data came from
  bool cpusKnown = true;  ///< the samples carry CPU numbers
  bool periodsKnown = false;
};

/// Whole numbers in proportion to the weights that add up to `total`, by largest remainder; of equal ones the
/// first get more. Where all weights are 0 they count as equal. Not empty, or `total` is 0.
std::vector<uint64_t> shareOut(uint64_t total, const std::vector<uint64_t>& weights);

}  // namespace cacheline::analysis
