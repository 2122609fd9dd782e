// What the threads of a recording did over time, and on which CPUs: running, contended, runnable, blocked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/intervals.h"
#include "analysis/report.h"
#include "analysis/sample_filter.h"
#include "analysis/timeline.h"
#include "perfdata/reader.h"
#include "scheduling/contended_code.h"
#include "scheduling/lock_waits.h"

namespace cacheline::scheduling {

/// What the times of threads are made from.
enum class Basis : uint8_t {
  switches,  ///< records of context switches: exact
  samples    ///< clock samples, one period each: running alone can be told, and is an estimate
};
const char* basisName(Basis basis);

inline constexpr size_t kMostBins = 1000;
/// Threads whose times are told by bins, those that ran longest. Memory: kMostLanes * bins * 40 bytes.
inline constexpr size_t kMostLanes = 256;

struct ScheduleOptions {
  analysis::Filter filter = {};      ///< threads, processes and a window of time
  size_t bins = 60;                  ///< 1 to kMostBins
  const LockWaits* locks = nullptr;  ///< null: nobody looked for locks
};

/// ns in each bin. Of threads by activity.
struct Lane {
  std::array<std::vector<uint64_t>, analysis::kActivities> activities;
  std::vector<uint64_t> migrations;  ///< how often in each bin
  std::vector<double> contended;     ///< estimated; empty: not known
};

/// Blocked time that is proved to be spent waiting for a lock.
struct LockWait {
  LockCall call;
  uint64_t ns = 0, waits = 0;
};

struct CpuShare {
  uint32_t cpu = 0;
  uint64_t running = 0;  ///< ns
};

/// One thread. Times are ns. Empty: this recording cannot say.
struct ThreadSchedule {
  uint32_t pid = 0, tid = 0;
  std::string comm;              ///< empty: not named
  uint64_t first = 0, last = 0;  ///< when it was there, since the window began
  uint64_t running = 0, unknown = 0;
  std::optional<uint64_t> runnable, blocked;
  std::optional<double> contended;  ///< of `running`, estimated: contended samples times period
  std::optional<uint64_t> switches, preempted,
      migrations;                              ///< it left its CPU; though it could run; it changed it
  std::optional<std::vector<LockWait>> locks;  ///< of `blocked`, longest first; empty: not looked for
  std::vector<CpuShare> cpus;                  ///< where it ran, by number
  std::optional<Lane> lane;                    ///< empty: more than kMostLanes threads ran longer
};

struct CpuSchedule {
  uint32_t cpu = 0;
  uint64_t running = 0;              ///< ns in which one of the threads ran there
  uint32_t threads = 0;              ///< that ran there
  std::optional<uint64_t> switches;  ///< how often one of the threads left it
  std::vector<uint64_t> bins;        ///< ns
};

struct Schedule {
  Basis basis = Basis::switches;
  uint64_t from = 0;               ///< the window's beginning, ns since the first record with a time
  uint64_t span = 0;               ///< its length, ns
  std::optional<uint64_t> period;  ///< of clock samples, the mean, ns
  uint64_t lost = 0;               ///< records
  size_t bins = 0;
  std::vector<ThreadSchedule> threads;  ///< longest running first, then by pid and tid
  std::vector<CpuSchedule> cpus;        ///< by number; empty: the recording does not name CPUs
  std::optional<std::vector<ContendedFunction>> functions;  ///< empty: contended time is not known
  bool callChains = false;            ///< whether samples have them; without, no function has callers
  std::vector<std::string> warnings;  ///< sentences
};

/// ns a clock sample was to stand for; empty where the recording has no event that samples CPU time.
std::optional<uint64_t> clockPeriod(const perfdata::Reader& reader);

/// Whether the recording has call chains.
bool hasCallChains(const perfdata::Reader& reader);

/// `report`: of the same recording and filter, with the histories of its lines and its callers; null:
/// contention is not known. Reads the recording twice. Throws Error(unreadable) where it has neither context
/// switches nor clock samples, and Error(usage) where the filter selects by CPU or mode, which is no property
/// of a thread.
Schedule scheduleOf(perfdata::Reader& reader, const analysis::Timeline& timeline,
                    const ScheduleOptions& options, const analysis::Report* report,
                    const std::function<bool(double)>& progress = {});

/// The document `cacheline-threads/1` (docs/outputs.md) but for what the command line adds. `basisReason`:
/// why there are no context switches; null where there are some. Valid JSON whatever bytes names hold.
std::string scheduleJson(const Schedule& schedule, const std::string& basisReason);

}  // namespace cacheline::scheduling
