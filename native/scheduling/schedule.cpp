// Two readings: the first one finds how long the recording is and which threads run longest, the second one
// adds up what lies in the window.
#include "scheduling/schedule.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "analysis/thread_table.h"
#include "base/error.h"
#include "scheduling/contention.h"
#include "scheduling/tally.h"

namespace cacheline::scheduling {

namespace {

using analysis::Activity;
using analysis::Filter;
using analysis::Interval;
using analysis::IntervalVisitor;
using analysis::kNoCpu;
using analysis::ThreadTable;

/// ns that a sample of an event was to stand for; empty: the event does not sample CPU time.
std::optional<uint64_t> clockPeriodOf(const perf_event_attr& attr) {
  const bool clock = attr.type == PERF_TYPE_SOFTWARE &&
                     (attr.config == PERF_COUNT_SW_CPU_CLOCK || attr.config == PERF_COUNT_SW_TASK_CLOCK);
  if (!clock || attr.sample_period == 0) return std::nullopt;
  constexpr uint64_t kSecond = 1'000'000'000;
  if (attr.freq == 0) return attr.sample_period;
  return std::max<uint64_t>(kSecond / attr.sample_freq, 1);
}

/// ns that clock samples stand for, by event.
class ClockPeriods {
 public:
  explicit ClockPeriods(const perfdata::Reader& reader) {
    for (const perfdata::Event& event : reader.events()) {
      const bool told = (event.attr.sample_type & PERF_SAMPLE_PERIOD) != 0;
      events_.push_back({clockPeriodOf(event.attr), told});
    }
  }
  /// Empty: of another event. A sample that came late says itself that it stands for more.
  std::optional<uint64_t> of(const perfdata::Sample& sample) const {
    const Clock& event = events_[sample.event];
    return event.period && event.told && sample.period > 0 ? sample.period : event.period;
  }

 private:
  struct Clock {
    std::optional<uint64_t> period;
    bool told = false;  ///< samples carry it
  };
  std::vector<Clock> events_;
};

bool haveCpus(const perfdata::Reader& reader) {
  return std::ranges::all_of(reader.events(), [](const perfdata::Event& event) {
    return (event.attr.sample_type & PERF_SAMPLE_CPU) != 0;
  });
}

bool keepsThread(const Filter& filter, const analysis::Thread& thread) {
  const auto passes = [](const std::vector<uint32_t>& list, const std::vector<uint32_t>& without,
                         uint32_t number) {
    return (list.empty() || std::ranges::find(list, number) != list.end()) &&
           std::ranges::find(without, number) == without.end();
  };
  return !filter.none && passes(filter.pids, filter.notPids, thread.pid) &&
         passes(filter.tids, filter.notTids, thread.tid);
}

/// Follows threads, and remembers of the samples what the follower does not need.
class Reading : public perfdata::RecordVisitor {
 public:
  Reading(ThreadTable& threads, IntervalVisitor& visitor, const ClockPeriods& clocks, bool cpusKnown)
      : follower(threads, visitor, cpusKnown), clocks_(clocks) {}
  void onSample(const perfdata::Sample& sample) override {
    if (!firstSample && perfdata::isTime(sample.time)) firstSample = sample.time;
    if (const std::optional<uint64_t> period = clocks_.of(sample)) {
      ++clockSamples;
      sampledNs += static_cast<double>(*period);
    }
    follower.onSample(sample);
  }
  void onSwitch(const perfdata::Switch& record) override { follower.onSwitch(record); }
  void onFork(const perfdata::Task& record) override { follower.onFork(record); }
  void onExit(const perfdata::Task& record) override { follower.onExit(record); }
  void onComm(const perfdata::Comm& record) override { follower.onComm(record); }
  void onLost(const perfdata::Lost& record) override { lost += record.count; }

  analysis::ThreadFollower follower;
  std::optional<uint64_t> firstSample;  ///< ns
  uint64_t lost = 0, clockSamples = 0;
  double sampledNs = 0;  ///< that the clock samples stand for

 private:
  const ClockPeriods& clocks_;
};

/// What a reading found besides what it added up.
struct Whole {
  uint64_t begin = 0, end = 0;          ///< of the records with times, ns
  std::optional<uint64_t> firstSample;  ///< ns
  uint64_t switches = 0, lost = 0;      ///< records
  std::optional<uint64_t> period;       ///< mean of the clock samples, ns
};

/// Passes on what threads do that the filter keeps.
class KeptThreads : public IntervalVisitor {
 public:
  KeptThreads(const ThreadTable& threads, const ScheduleOptions& options, Tally& tally)
      : threads_(threads), filter_(options.filter), locks_(options.locks), tally_(tally) {}
  void onInterval(const Interval& interval) override {
    if (!keeps(interval.thread)) return;
    tally_.onInterval(interval);
    if (locks_ == nullptr || interval.activity != Activity::blocked) return;
    const analysis::Thread& thread = threads_[interval.thread];
    if (const LockCall* const call = locks_->find(thread.pid, thread.tid, interval.from, interval.to))
      tally_.addLock(interval.thread, *call, interval.from, interval.to);
  }
  void onLeft(uint32_t thread, uint32_t cpu, bool preempted, uint64_t time) override {
    if (keeps(thread)) tally_.onLeft(thread, cpu, preempted, time);
  }
  void onMigrated(uint32_t thread, uint64_t time) override {
    if (keeps(thread)) tally_.onMigrated(thread, time);
  }
  bool keeps(uint32_t thread) {
    while (kept_.size() <= thread)
      kept_.push_back(keepsThread(filter_, threads_[static_cast<uint32_t>(kept_.size())]));
    return kept_[thread];
  }

 private:
  const ThreadTable& threads_;
  const Filter& filter_;
  const LockWaits* const locks_;
  Tally& tally_;
  std::vector<bool> kept_;  ///< by thread
};

/// Where there are no context switches: each clock sample is one period of running, which ends with it.
class SampledTime : public perfdata::RecordVisitor {
 public:
  SampledTime(ThreadTable& threads, KeptThreads& visitor, const ClockPeriods& clocks, bool cpusKnown)
      : threads_(threads), visitor_(visitor), clocks_(clocks), cpusKnown_(cpusKnown) {}
  void onSample(const perfdata::Sample& sample) override {
    const std::optional<uint64_t> period = clocks_.of(sample);
    if (!period || sample.tid == 0 || !perfdata::isTime(sample.time)) return;
    visitor_.onInterval({threads_.index(sample.pid, sample.tid), Activity::running,
                         cpusKnown_ ? sample.cpu : kNoCpu, sample.time - std::min(sample.time, *period),
                         sample.time});
  }

 private:
  ThreadTable& threads_;
  KeptThreads& visitor_;
  const ClockPeriods& clocks_;
  const bool cpusKnown_;
};

class Scheduler {
 public:
  Scheduler(perfdata::Reader& reader, const analysis::Timeline& timeline, const ScheduleOptions& options,
            const analysis::Report* report, const std::function<bool(double)>& progress)
      : reader_(reader),
        options_(options),
        report_(report),
        progress_(progress),
        threads_(timeline),
        clocks_(reader),
        cpusKnown_(haveCpus(reader)) {}

  Schedule run() {
    result_.bins = options_.bins;
    Tally all(Bins(0, ~uint64_t{0}, 1));
    const Whole whole = read(all, 0);
    result_.lost = whole.lost;
    result_.period = whole.period ? whole.period : clockPeriod(reader_);
    result_.basis = whole.switches > 0 ? Basis::switches : Basis::samples;
    if (result_.basis == Basis::samples) {
      if (!result_.period)
        throw Error(
            ErrorKind::unreadable,
            "this recording has neither context switches nor samples of a clock, so nothing says when "
            "threads ran",
            "Record again with `cacheline record`, without --no-switches.");
      all = Tally(Bins(0, ~uint64_t{0}, 1));
      readSamples(all, 0);
    }
    const Bins bins = window(whole);
    result_.from = bins.from() - whole.begin;
    result_.span = bins.to() - bins.from();
    Tally tally(bins);
    tally.keepLanes(longestOf(all), isContentionKnown());
    if (result_.basis == Basis::switches)
      read(tally, 0.5);
    else
      readSamples(tally, 0.5);
    addContention(tally);
    addThreads(tally, bins);
    addCpus(tally);
    return std::move(result_);
  }

 private:
  bool isContentionKnown() const { return report_ != nullptr && result_.period.has_value(); }

  /// The share done before and after: a half each.
  std::function<bool(double)> progressFrom(double begin) const {
    return [this, begin](double share) { return !progress_ || progress_(begin + share / 2); };
  }

  Whole read(Tally& tally, double begin) {
    KeptThreads kept(threads_, options_, tally);
    Reading reading(threads_, kept, clocks_, cpusKnown_);
    reader_.readAll(reading, progressFrom(begin));
    reading.follower.finish();
    Whole whole{reading.follower.begin,    reading.follower.end, reading.firstSample,
                reading.follower.switches, reading.lost,         std::nullopt};
    constexpr double kLongest = 1e18;  // a damaged recording may say anything
    if (reading.clockSamples > 0)
      whole.period = static_cast<uint64_t>(
          std::min(reading.sampledNs / static_cast<double>(reading.clockSamples), kLongest) + 0.5);
    return whole;
  }

  void readSamples(Tally& tally, double begin) {
    KeptThreads kept(threads_, options_, tally);
    SampledTime sampled(threads_, kept, clocks_, cpusKnown_);
    reader_.readAll(sampled, progressFrom(begin));
  }

  /// Windows are told in seconds since the first sample, as everywhere; without samples, since the first
  /// record.
  Bins window(const Whole& whole) const {
    const uint64_t begin = whole.begin, end = whole.end;
    const auto origin = static_cast<double>(whole.firstSample.value_or(begin) - begin) / 1e9;
    const auto at = [&](double seconds) {
      const double sinceBegin = (origin + seconds) * 1e9;
      if (sinceBegin >= static_cast<double>(end - begin)) return end;
      return begin + static_cast<uint64_t>(std::llround(std::max(sinceBegin, 0.0)));
    };
    const Filter& filter = options_.filter;
    const uint64_t from = filter.from > 0 ? at(filter.from) : begin;
    return {from, std::max(from, std::isinf(filter.to) ? end : at(filter.to)), options_.bins};
  }

  std::vector<uint32_t> longestOf(const Tally& all) const {
    std::vector<uint32_t> longest(all.threads.size());
    std::iota(longest.begin(), longest.end(), 0);
    const auto time = [&](uint32_t thread) {
      return all.threads[thread].times[static_cast<size_t>(Activity::running)];
    };
    std::stable_sort(longest.begin(), longest.end(),
                     [&](uint32_t one, uint32_t other) { return time(one) > time(other); });
    if (longest.size() > kMostLanes) longest.resize(kMostLanes);
    return longest;
  }

  void addContention(Tally& tally) {
    result_.callChains = hasCallChains(reader_);
    if (!isContentionKnown()) return;
    result_.functions = contendedFunctions(*report_);
    eachContended(*report_, [&](const ContendedSample& sample) {
      tally.addContended(threads_.index(sample.pid, sample.tid), sample.time,
                         sample.samples * static_cast<double>(*result_.period));
    });
  }

  void addThreads(Tally& tally, const Bins& bins) {
    const bool exact = result_.basis == Basis::switches;
    for (uint32_t index = 0; index < tally.threads.size(); ++index) {
      ThreadTally& from = tally.threads[index];
      if (from.first > from.last) continue;
      ThreadSchedule& thread = result_.threads.emplace_back();
      thread.pid = threads_[index].pid;
      thread.tid = threads_[index].tid;
      thread.comm = threads_[index].comm;
      thread.first = from.first - bins.from();
      thread.last = from.last - bins.from();
      const auto time = [&](Activity activity) { return from.times[static_cast<size_t>(activity)]; };
      thread.running = time(Activity::running);
      thread.unknown = time(Activity::unknown);
      if (exact) {
        thread.runnable = time(Activity::runnable);
        thread.blocked = time(Activity::blocked);
        thread.switches = from.switches;
        thread.preempted = from.preempted;
        if (options_.locks != nullptr) thread.locks = longestFirst(from.locks);
        if (cpusKnown_) thread.migrations = from.migrations;
      }
      if (isContentionKnown()) thread.contended = from.contended;
      thread.cpus = std::move(from.cpus);
      std::ranges::sort(thread.cpus, {}, &CpuShare::cpu);
      thread.lane = std::move(from.lane);
    }
    std::ranges::sort(result_.threads, [](const ThreadSchedule& a, const ThreadSchedule& b) {
      return std::tuple(b.running, a.pid, a.tid) < std::tuple(a.running, b.pid, b.tid);
    });
  }

  static std::vector<LockWait> longestFirst(const std::map<LockCall, LockWait>& locks) {
    std::vector<LockWait> list;
    for (const auto& [call, wait] : locks) list.push_back(wait);
    std::ranges::stable_sort(list, std::ranges::greater{}, &LockWait::ns);
    return list;
  }

  void addCpus(const Tally& tally) {
    for (const auto& entry : tally.cpus) {
      const uint32_t number = entry.first;
      const CpuTally& from = entry.second;
      CpuSchedule& cpu = result_.cpus.emplace_back();
      cpu.cpu = number;
      cpu.running = from.running;
      if (result_.basis == Basis::switches) cpu.switches = from.switches;
      cpu.bins = from.bins;
      cpu.bins.resize(result_.bins);
      cpu.threads =
          static_cast<uint32_t>(std::ranges::count_if(result_.threads, [&](const ThreadSchedule& thread) {
            return std::ranges::find(thread.cpus, number, &CpuShare::cpu) != thread.cpus.end();
          }));
    }
    std::ranges::sort(result_.cpus, {}, &CpuSchedule::cpu);
  }

  perfdata::Reader& reader_;
  const ScheduleOptions& options_;
  const analysis::Report* const report_;
  const std::function<bool(double)>& progress_;
  ThreadTable threads_;
  const ClockPeriods clocks_;
  const bool cpusKnown_;
  Schedule result_;
};

}  // namespace

const char* basisName(Basis basis) {
  return basis == Basis::switches ? "switches" : "samples";
}

std::optional<uint64_t> clockPeriod(const perfdata::Reader& reader) {
  for (const perfdata::Event& event : reader.events())
    if (const std::optional<uint64_t> period = clockPeriodOf(event.attr)) return period;
  return std::nullopt;
}

bool hasCallChains(const perfdata::Reader& reader) {
  return std::ranges::any_of(reader.events(), [](const perfdata::Event& event) {
    return (event.attr.sample_type & PERF_SAMPLE_CALLCHAIN) != 0;
  });
}

Schedule scheduleOf(perfdata::Reader& reader, const analysis::Timeline& timeline,
                    const ScheduleOptions& options, const analysis::Report* report,
                    const std::function<bool(double)>& progress) {
  const Filter& filter = options.filter;
  if (filter.mode != Filter::Mode::all || !filter.cpus.empty() || !filter.notCpus.empty())
    throw Error(ErrorKind::usage, "threads cannot be selected by CPU or mode: they change both all the time",
                "Select threads, processes or a window of time.");
  return Scheduler(reader, timeline, options, report, progress).run();
}

}  // namespace cacheline::scheduling
