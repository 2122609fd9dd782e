// Records a program, running processes or the machine into a recording folder.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "record/kernel.h"
#include "record/meta_json.h"
#include "record/target.h"
#include "record/trace_request.h"
#include "record/watch_request.h"

namespace cacheline::record {

/// Recording of heap blocks by an agent in the program.
struct HeapOptions {
  std::string agent;       ///< path of libcacheline_heap.so
  uint64_t sampling = 64;  ///< of blocks below 64 bytes, above the rate: 1 in so many
};

/// `automatic`: the strongest evidence that the machine allows.
enum class CollectorChoice { automatic, pmu, clock, agent };
enum class CallGraph { none, framePointers, dwarf, branchStack };

/// Beginning and ending a recording from elsewhere, as `perf record --control`.
struct ControlFifo {
  std::string command;      ///< read: "enable", "disable", "stop", "ping", a line each
  std::string acknowledge;  ///< written: "ack" after each; empty: none
  bool startDisabled = false;
};

struct RecordResult;

struct RecordOptions {
  CollectorChoice collector = CollectorChoice::automatic;
  Target target;
  std::vector<std::string> command;      ///< program and arguments; the program is looked up in PATH
  std::string workingDirectory;          ///< empty: the caller's
  std::vector<std::string> environment;  ///< "NAME=value" added to or replacing the caller's
  std::string outputDirectory;           ///< an existing, empty folder: perf.data and meta.json go there
  uint32_t frequency = 499;              ///< samples a second and CPU (agent: and thread)
  double durationSeconds = 0;            ///< 0: until the program ends
  bool frequencyGiven = false;  ///< asked for by the person: a collector's own default does not apply
  uint64_t period = 0;          ///< events a sample instead of a frequency (-c); 0: by frequency
  uint32_t ldlat = 30;          ///< cycles: loads faster than this are not sampled (memory PMU)
  bool userOnly = false, kernelOnly = false;
  bool physicalAddresses = false;
  size_t ringBytes = 0;  ///< a CPU, rounded up to a power of two; 0: 512 KiB
  CallGraph callGraph = CallGraph::none;
  bool switches = true;  ///< when threads are put on CPUs and taken off them is recorded, too
  std::optional<ControlFifo> control;
  std::optional<WatchOptions> watch;
  std::optional<HeapOptions> heap;    ///< also writes outputDirectory/allocations
  std::optional<TraceOptions> trace;  ///< of a command, without watch and heap: also writes trace.jsonl
  std::string agentLibrary;           ///< path of libcacheline_sampler.so; empty: the one beside this code
  /// Where the program's standard output and error go: the caller's, or /dev/null plus the given pipe ends.
  int stdoutFd = -1, stderrFd = -1;  ///< -1: inherited
  bool stdinFromNull = false;
  /// Called before the program starts, when of the result no more is known than the collector.
  std::function<void(const RecordResult&)> chosen;
};

struct RecordProgress {
  double elapsedSeconds = 0;
  uint64_t samples = 0, lost = 0, bytes = 0;
  std::vector<std::string> news;  ///< sentences for a person, each given once
};

struct RecordResult {
  std::optional<int> exitStatus;  ///< of the program
  std::optional<int> signal;      ///< it died of this one
  bool interrupted = false;       ///< stop was asked for, or the duration ran out
  bool durationReached = false;
  uint64_t samples = 0, lost = 0, bytes = 0;
  double seconds = 0;
  double programCpuSeconds = 0;  ///< user + system time of the program and its waited-for children
  bool samplesWereDue = false;   ///< by rate and CPU time, so many that none at all is no accident
  std::string collector;         ///< "clock"
  std::string collectorReason;   ///< one sentence: why this collector and not a stronger one
  std::vector<NotTaken> notTaken;
  std::optional<HeapCounts> heap;
  std::optional<WatchCounts> watch;   ///< empty: nothing was to be watched
  std::optional<TraceCounts> trace;   ///< empty: nothing was to be traced
  std::vector<std::string> warnings;  ///< lost samples, static binary, no debug info, ...
};

/// Runs the program or attaches to what runs, records it, and writes outputDirectory/{perf.data,meta.json}.
/// Blocks; call it on a thread of its own. The recording ends with its target (a command, or all of the
/// processes or threads), after the duration, by the control FIFO, or by `stop` set to true; a command is
/// then asked to end (SIGTERM, after 5 s SIGKILL), what was attached to goes on unharmed. `progress` (may be
/// empty) is called about 5 times a second on the same thread. `kernel` is the running one, or a test's.
/// Errors: usage (no such program or process, not executable, contradictory options), impossible
/// (perf_event_open refused: message names the paranoid value, nextStep the command; another user's process;
/// heap blocks of a static or set-user-ID program), io (disk full; what was written stays readable, and the
/// program is left running to its end).
RecordResult record(const RecordOptions& options, const std::atomic<bool>& stop,
                    const std::function<void(const RecordProgress&)>& progress = {},
                    const Kernel& kernel = Kernel::real());

}  // namespace cacheline::record
