// Looks at processes again and again, for little: which CPUs their threads run on, and where their memory
// lies.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "machine/placement.h"
#include "machine/task_files.h"
#include "machine/topology.h"

namespace cacheline::machine {

/// CPU time that this thread used.
std::chrono::nanoseconds ownCpuTime();

/// How often tick() looks. After a look comes a pause of at least kPauses times the CPU time that it took:
/// each kind of look takes 2% of a CPU at most, however many threads and mappings there are.
struct Cadence {
  std::chrono::nanoseconds threads{10'000'000};
  std::chrono::nanoseconds memory{250'000'000};
  bool doubling = false;  ///< each pause is twice the one before: a few looks in a long time
};

class ProcessWatch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kPauses = 50;
  /// Stretches of time that are told apart; they become twice as long when these are full.
  static constexpr size_t kMostBins = 60;
  /// Threads that are listed once they have ended.
  static constexpr size_t kMostThreads = 2000;

  /// `topology` is kept. Time is counted from `start`.
  ProcessWatch(const Roots& roots, const Topology& topology, const Cadence& cadence, Clock::time_point start);

  /// Looks at the process from now on. `fromBirth`: all that its threads ran counts, else what they run from
  /// now on. One that is known already, or is not there, changes nothing.
  void follow(pid_t process, bool fromBirth);

  /// Looks at what is due.
  void tick(Clock::time_point now);
  Clock::time_point next() const;

  /// The run time of a thread since the look before counts for the CPU that it is on now.
  void lookAtThreads(Clock::time_point now);
  void lookAtMemory(Clock::time_point now);

  /// None of the processes is there any more.
  bool ended() const;
  /// What was seen so far.
  Placement placement() const;

 private:
  struct Thread {
    std::string name, schedstat;
    uint64_t cpuNs = 0;  // at the last look
    bool alive = true, seen = false;
    CpuTimes ran;
    std::vector<CpuTimes> bins;
  };
  struct Process {
    ProcessPlace place;
    uint64_t startTicks = 0, firstCpuNs = 0, lastCpuNs = 0, seenNs = 0;
    bool fromBirth = false, looked = false;
  };
  using ThreadKey = std::tuple<pid_t, pid_t, uint64_t>;  // process, thread, its start: ids come again

  std::string folderOf(pid_t process) const;
  void describe(pid_t pid, ProcessPlace& place) const;
  void lookAtProcess(pid_t pid, Process& process);
  void lookAtThread(pid_t pid, Process& process, pid_t tid);
  void credit(Thread& thread, uint32_t cpu, uint64_t ns);
  void foldEnded();
  size_t indexOf(Clock::time_point time) const;
  size_t binAt(Clock::time_point now);
  void mergeBins();

  const Roots roots_;
  const Topology& topology_;
  const Cadence cadence_;
  const Clock::time_point start_;
  Clock::time_point last_, lastThreads_, nextThreads_, nextMemory_;
  std::chrono::nanoseconds threadPause_, memoryPause_;
  std::map<pid_t, Process> processes_;
  std::map<ThreadKey, Thread> threads_;
  std::map<std::pair<pid_t, pid_t>, uint64_t> starts_;  // of the threads that are alive, in clock ticks
  uint64_t unlistedThreads_ = 0;
  CpuTimes unlisted_;
  std::optional<NodeMemory> memory_;
  std::string memoryReason_;
  uint64_t threadLooks_ = 0, memoryLooks_ = 0;
  std::chrono::nanoseconds binWidth_{50'000'000};
  std::vector<TimeBin> bins_;
  size_t bin_ = 0, firstBin_ = 0;  // of this look, and behind that of the look at threads before
};

}  // namespace cacheline::machine
