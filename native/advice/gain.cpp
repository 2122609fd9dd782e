// Speedups by threads; cycles of loads.
#include "advice/gain.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace cacheline::advice {

namespace {

using calibration::AccessClass;

constexpr double kDeviations = 2;
constexpr double kBusy = 0.1;  // of the program's time, in samples

/// One thread's contended samples in a phase: before, and what of it ends.
struct ThreadWaits {
  std::map<AccessClass, double> ending;
  std::map<AccessClass, std::map<uint32_t, double>> before;  ///< by line
  std::map<uint32_t, double> atLine;                         ///< the same, of all classes
  double seen = 0;                                           ///< that which others' waiting shows
  bool stores = false;                                       ///< some of it is at plain stores
  std::set<uint64_t> functions;                              ///< that have plain accesses which wait
  double mayWait = 0;                                        ///< ThreadSamples::mayWait of these functions
};

/// What one thread saves in a phase, in samples.
struct Saved {
  double samples = 0;  ///< its own in the phase
  bool waits = false;
  double most = 0;        ///< however much contention costs
  double mostByCost = 0;  ///< with the greatest excess share, if all of its time were such waiting
  calibration::ShareRange by;
  double mayWait = 0;   ///< beside `most` and `by.high`: of samples that may be waiting
  double variance = 0;  ///< of `by.mid`, by the number of samples
  /// The most of what others waited for it; empty: not known. It is a number of samples, too.
  std::optional<double> bound;
  double boundMayWait = 0;  ///< what others may have waited for it beside that
};

struct Phase {
  std::map<uint32_t, double> samples;  ///< by thread
  std::map<uint32_t, ThreadWaits> waits;
  double seen = 0, mayWait = 0;  ///< the threads' sums
  std::map<uint32_t, Saved> saved;
  double variance = 0;  ///< the largest of its threads
};

bool isPlain(AccessClass which) {
  return which == AccessClass::load || which == AccessClass::store || which == AccessClass::update;
}

std::map<uint32_t, Phase> phasesOf(const analysis::Report& report, const Replayed& before,
                                   const Replayed& after) {
  std::map<uint32_t, Phase> phases;
  for (uint32_t number = 0; number < report.threads.size(); ++number) {
    const analysis::ThreadSamples& thread = report.threads[number];
    if (thread.byPhase.empty()) phases[0].samples[number] = static_cast<double>(thread.samples);
    for (const auto& [phase, samples] : thread.byPhase)
      phases[phase].samples[number] = static_cast<double>(samples);
  }
  for (const auto& [key, waiting] : before.byThread) {
    Phase& phase = phases[key.phase];
    ThreadWaits& thread = phase.waits[key.thread];
    thread.ending[key.access] += waiting;
    thread.before[key.access][key.line] += waiting;
    thread.atLine[key.line] += waiting;
    if (isPlain(key.access) && thread.functions.insert(key.function).second) {
      const auto& mayWait = report.threads[key.thread].mayWait;
      const auto found = mayWait.find({key.phase, key.function});
      if (found != mayWait.end()) {
        thread.mayWait += static_cast<double>(found->second);
        phase.mayWait += static_cast<double>(found->second);
      }
    }
    if (key.access == AccessClass::store) {
      thread.stores = true;
    } else {
      thread.seen += waiting;
      phase.seen += waiting;
    }
  }
  for (const auto& [key, left] : after.byThread) {
    const auto thread = phases[key.phase].waits.find(key.thread);
    if (thread == phases[key.phase].waits.end()) continue;
    const auto ending = thread->second.ending.find(key.access);
    if (ending != thread->second.ending.end()) ending->second = std::max(0.0, ending->second - left);
  }
  return phases;
}

/// Of what is saved: samples of which only bounds are known, and all.
struct Dominance {
  double ofBounds = 0, ofAll = 0;
};

/// The thread's samples that may be waiting, times the share of its waiting at plain accesses that ends.
double endingMayWait(const ThreadWaits& thread) {
  double before = 0, ending = 0;
  for (const auto& [which, lines] : thread.before) {
    if (!isPlain(which)) continue;
    ending += thread.ending.at(which);
    for (const auto& [line, waiting] : lines) before += waiting;
  }
  return before > 0 ? thread.mayWait * ending / before : 0;
}

/// What ends of a thread's waiting, by what it costs. `plain`: the part of `mid` at plain accesses.
struct Excess {
  calibration::ShareRange by;
  double plain = 0;
  /// The greatest share, of all and of plain accesses: without competitors, too, an access takes its time.
  double most = 0, mostOfPlain = 0;
};

/// Of the contended samples of a class, by the share of the thread's time that it spends at each line:
/// between two accesses to one line it waits at the others, and meanwhile the line is taken away. Low: as if
/// it used one line after the other.
calibration::ShareRange excessShare(const calibration::Calibration& calibration, AccessClass which,
                                    const ThreadWaits& thread, double samples) {
  calibration::ShareRange sum;
  double all = 0, atAll = 0;
  for (const auto& [line, waiting] : thread.atLine) atAll += waiting;
  const double least = calibration::excessShare(calibration, which, std::min(1.0, atAll / samples)).low;
  for (const auto& [line, waiting] : thread.before.at(which)) {
    const calibration::ShareRange here =
        calibration::excessShare(calibration, which, std::min(1.0, thread.atLine.at(line) / samples));
    sum.low += waiting * std::min(least, here.low);
    sum.mid += waiting * here.mid;
    sum.high += waiting * here.high;
    all += waiting;
  }
  return {sum.low / all, sum.mid / all, sum.high / all};
}

Excess excessOf(const calibration::Calibration& calibration, const ThreadWaits& thread, double samples) {
  Excess excess;
  for (const auto& [which, ending] : thread.ending) {
    if (ending <= 0) continue;
    const calibration::ShareRange share = excessShare(calibration, which, thread, samples);
    if (isPlain(which)) {
      excess.plain += ending * share.mid;
      excess.mostOfPlain = std::max(excess.mostOfPlain, share.high);
    } else {
      excess.by.low += ending * share.low;
    }
    excess.by.mid += ending * share.mid;
    excess.by.high += ending * share.high;
    excess.most = std::max(excess.most, share.high);
  }
  return excess;
}

/// Of what other threads wait in the phase, all is at plain loads, or there is none.
bool onlyLoad(const Phase& phase, uint32_t thread) {
  return std::ranges::all_of(phase.waits, [thread](const auto& each) {
    return each.first == thread || std::ranges::all_of(each.second.ending, [](const auto& ending) {
             return ending.first == AccessClass::load || ending.second <= 0;
           });
  });
}

void addSaved(const calibration::Calibration* calibration, Phase& phase, Dominance& dominance) {
  const auto stores = std::ranges::count_if(phase.waits, [](const auto& each) { return each.second.stores; });
  for (const auto& [number, samples] : phase.samples) {
    Saved& saved = phase.saved[number];
    saved.samples = samples;
    const auto found = phase.waits.find(number);
    if (found == phase.waits.end() || samples <= 0) continue;
    const ThreadWaits& thread = found->second;
    saved.waits = true;
    if (stores - (thread.stores ? 1 : 0) == 0) saved.bound = phase.seen - thread.seen;
    saved.boundMayWait = phase.mayWait - thread.mayWait;
    for (const auto& [which, ending] : thread.ending) saved.most += ending;
    saved.mayWait = endingMayWait(thread);
    if (calibration != nullptr) {
      const Excess excess = excessOf(*calibration, thread, samples);
      saved.by = excess.by;
      saved.mayWait *= excess.mostOfPlain;
      saved.mostByCost = excess.most * samples;
      dominance.ofAll += excess.by.mid;
      const bool byLoads = onlyLoad(phase, number);
      dominance.ofBounds += byLoads ? excess.by.mid : excess.plain;
      if (byLoads) saved.by.low = 0;
    }
    // Of a share that so many samples tell.
    saved.variance = std::max(saved.by.mid * (1 - saved.by.mid / samples), 1.0);
    phase.variance = std::max(phase.variance, saved.variance);
  }
}

}  // namespace

Gain gainOf(const analysis::Report& report, const calibration::Calibration* calibration,
            const Replayed& before, const Replayed& after) {
  if (report.threads.empty()) return {};
  std::map<uint32_t, Phase> phases = phasesOf(report, before, after);
  Dominance dominance;
  double variance = 0;
  for (auto& [number, phase] : phases) {
    addSaved(calibration, phase, dominance);
    variance += phase.variance;
  }

  Gain gain;
  // Times of the phases' slowest threads, in samples; shown: without what only may be waiting.
  double slowest = 0, leastShown = 0;
  Speedup left{0, 0, 0};
  std::map<uint32_t, std::pair<double, double>> threads;  // samples, and the most that they save
  for (auto& [number, phase] : phases) {
    // So that the phases' deviations are together those of their sum.
    const double deviations = kDeviations * std::sqrt(variance > 0 ? phase.variance / variance : 0);
    double took = 0, shownLeft = 0;
    Speedup slowestLeft{0, 0, 0};
    for (auto& [thread, saved] : phase.saved) {
      double limit = saved.samples;  // of what the thread can save
      if (calibration != nullptr && saved.waits) {
        const double chance = deviations * std::sqrt(saved.variance);
        limit = std::min(limit, saved.mostByCost);
        saved.by.low = std::max(0.0, saved.by.low - chance);
        saved.by.high = std::min(saved.by.high + chance, limit);
      }
      if (saved.bound) {
        const double chance = deviations * std::sqrt(std::max(*saved.bound, 1.0));
        limit = std::min(limit, *saved.bound + saved.boundMayWait + chance);
        saved.by.low = std::min(saved.by.low, std::max(0.0, *saved.bound - chance));
        saved.by.mid = std::min(saved.by.mid, *saved.bound);
        for (double* each : {&saved.most, &saved.by.high}) *each = std::min(*each, *saved.bound + chance);
      }
      for (double* each : {&saved.most, &saved.by.low, &saved.by.mid, &saved.by.high})
        *each = std::min(*each, saved.samples);
      const double shown = calibration != nullptr ? saved.by.high : saved.most;
      auto& [samples, most] = threads[thread];
      samples += saved.samples;
      most += saved.most;
      took = std::max(took, saved.samples);
      shownLeft = std::max(shownLeft, saved.samples - shown);
      slowestLeft.low = std::max(slowestLeft.low, saved.samples - saved.by.low);
      slowestLeft.mid = std::max(slowestLeft.mid, saved.samples - saved.by.mid);
      slowestLeft.high = std::max(slowestLeft.high, saved.samples - std::min(shown + saved.mayWait, limit));
    }
    slowest += took;
    leastShown += shownLeft;
    left.low += slowestLeft.low;
    left.mid += slowestLeft.mid;
    left.high += slowestLeft.high;
  }
  slowest = std::max(slowest, 1.0);
  for (const auto& [thread, all] : threads)
    if (const auto& [samples, most] = all; samples >= kBusy * slowest)
      gain.mostOfThread = std::max(gain.mostOfThread, samples / std::max(samples - most, 0.5));
  // A program takes some time at least: half a sample.
  const auto over = [&](double time) { return slowest / std::max(time, 0.5); };
  gain.most = over(left.high);
  gain.mostShown = over(leastShown);
  gain.plainAccessesDominate = dominance.ofBounds > dominance.ofAll / 2;
  if (calibration != nullptr) gain.speedup = {over(left.low), over(left.mid), gain.most};
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
  return basis + ", calibrated" + (gain.plainAccessesDominate ? ", bound" : "");
}

}  // namespace cacheline::advice
