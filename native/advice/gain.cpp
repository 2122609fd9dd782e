// Speedups by threads; cycles of loads.
#include "advice/gain.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace cacheline::advice {

namespace {

using calibration::AccessClass;

constexpr double kDeviations = 2;
constexpr double kBusy = 0.1;  // of the busiest thread's samples

/// One thread's contended samples, by class: before, and what of it ends.
struct ThreadWaits {
  std::map<AccessClass, double> ending;
  double waiting = 0, seen = 0;  ///< all of it; that which others' waiting shows
  bool stores = false;           ///< some of it is at plain stores
};

}  // namespace

Gain gainOf(const analysis::Report& report, const calibration::Calibration* calibration,
            const Replayed& before, const Replayed& after) {
  if (report.threads.empty()) return {};
  std::map<uint32_t, ThreadWaits> threads;
  double seen = 0;
  for (const auto& [key, waiting] : before.byThread) {
    ThreadWaits& thread = threads[key.first];
    const auto left = after.byThread.find(key);
    thread.ending[key.second] = std::max(0.0, waiting - (left == after.byThread.end() ? 0 : left->second));
    thread.waiting += waiting;
    if (key.second == AccessClass::store) {
      thread.stores = true;
    } else {
      thread.seen += waiting;
      seen += waiting;
    }
  }
  const auto stores = std::ranges::count_if(threads, [](const auto& each) { return each.second.stores; });

  Gain gain;
  double slowest = 1;
  for (const analysis::ThreadSamples& thread : report.threads)
    slowest = std::max(slowest, static_cast<double>(thread.samples));
  Speedup after_{0, 0, 0};  // times of the slowest thread, in samples
  double least = 0, ofPlainWrites = 0, ofAll = 0;
  for (uint32_t number = 0; number < report.threads.size(); ++number) {
    const auto samples = static_cast<double>(report.threads[number].samples);
    double most = 0;
    calibration::ShareRange saved;
    if (const auto found = threads.find(number); found != threads.end() && samples > 0) {
      const ThreadWaits& thread = found->second;
      const bool bounded = stores - (thread.stores ? 1 : 0) == 0;
      const double bound = bounded ? seen - thread.seen : samples;
      for (const auto& [which, ending] : thread.ending) {
        most += ending;
        if (calibration == nullptr) continue;
        const calibration::ShareRange share =
            calibration::excessShare(*calibration, which, std::min(1.0, thread.waiting / samples));
        ofAll += ending * share.mid;
        if (which == AccessClass::store || which == AccessClass::update) ofPlainWrites += ending * share.mid;
        saved.low += ending * share.low;
        saved.mid += ending * share.mid;
        saved.high += ending * share.high;
      }
      // Two standard deviations of a share that so many samples tell.
      const double chance = kDeviations * std::sqrt(std::max(saved.mid * (1 - saved.mid / samples), 1.0));
      if (calibration != nullptr) {
        saved.low = std::max(0.0, saved.low - chance);
        saved.high += chance;
      }
      for (double* each : {&most, &saved.low, &saved.mid, &saved.high})
        *each = std::min({*each, bound, samples});
    }
    if (samples >= kBusy * slowest)
      gain.mostOfThread = std::max(gain.mostOfThread, samples / std::max(samples - most, 0.5));
    least = std::max(least, samples - most);
    after_.low = std::max(after_.low, samples - saved.low);
    after_.mid = std::max(after_.mid, samples - saved.mid);
    after_.high = std::max(after_.high, samples - saved.high);
  }
  // A thread takes some time at least: half a sample.
  const auto over = [&](double time) { return slowest / std::max(time, 0.5); };
  gain.most = over(least);
  gain.plainWritesDominate = ofPlainWrites > ofAll / 2;
  if (calibration != nullptr) {
    gain.speedup = {over(after_.low), over(after_.mid), over(after_.high)};
    gain.most = gain.speedup->high;
  }
  return gain;
}

std::optional<double> excessCycles(const analysis::Report& report, const std::vector<uint32_t>& lines) {
  double all = 0, loads = 0, ofOthers = 0;
  for (const analysis::Line& line : report.lines) {
    for (const analysis::Access& access : line.accesses) {
      if (!access.memory || !access.memory->cycles) continue;
      const analysis::Cycles& cycles = *access.memory->cycles;
      const analysis::MemoryCounts& counts = access.memory->counts;
      const auto hits =
          static_cast<double>(counts.localHitm + counts.remoteHitm + counts.localPeer + counts.remotePeer);
      all += static_cast<double>(cycles.sum);
      const double others = std::max(0.0, static_cast<double>(cycles.loads) - hits);
      loads += others;
      ofOthers += others * cycles.load;
    }
  }
  if (all <= 0) return std::nullopt;
  const double mean = loads > 0 ? ofOthers / loads : 0;
  double excess = 0;
  for (const uint32_t line : lines) {
    for (const analysis::Access& access : report.lines[line].accesses) {
      if (!access.memory || !access.memory->cycles) continue;
      const analysis::Cycles& cycles = *access.memory->cycles;
      const analysis::MemoryCounts& counts = access.memory->counts;
      const double usual = cycles.load > 0 ? cycles.load : mean;
      const auto add = [&](uint64_t count, double took) {
        excess += static_cast<double>(count) * std::max(0.0, took - usual);
      };
      add(counts.localHitm, cycles.localHitm);
      add(counts.remoteHitm, cycles.remoteHitm);
      add(counts.localPeer, cycles.localPeer);
      add(counts.remotePeer, cycles.remotePeer);
    }
  }
  return std::min(1.0, excess / all);
}

std::string basisOf(const analysis::Report& report, const calibration::Calibration* calibration,
                    const Gain& gain) {
  std::string basis;
  for (const std::string& evidence : report.evidence) basis += (basis.empty() ? "" : ", ") + evidence;
  if (report.threads.empty()) return basis;
  if (calibration == nullptr) return basis + ", not calibrated";
  return basis + ", calibrated" + (gain.plainWritesDominate ? ", bound" : "");
}

}  // namespace cacheline::advice
