// What ending some waiting is worth to the whole program.
#pragma once

#include <optional>
#include <string>

#include "advice/advice.h"
#include "advice/replay.h"

namespace cacheline::advice {

/// What a replay ends.
struct Gain {
  /// Empty where samples do not show where time goes, or it is not known what contention costs there.
  std::optional<Speedup> speedup;
  /// However much contention costs: the most that it can be. 1 where nothing is known.
  double most = 1;
  /// The same of the samples that show waiting, without those that only may be waiting: whether a change is
  /// worth it.
  double mostShown = 1;
  /// The most that a single thread can gain of its own time, of those that run a tenth of the slowest one's
  /// time at least.
  double mostOfThread = 1;
  /// Most of what is saved would be at plain loads and stores, or by threads that wait for such loads: only
  /// the bounds of `speedup` say something.
  bool plainAccessesDominate = false;
};

/// Of the program's elapsed time, after Cheetah (Liu, Liu: CGO 2016): a phase takes as long as its slowest
/// thread, a program as long as its phases together, and a thread's time in a phase shrinks by the part of
/// its contended samples there that competition costs. A thread that is blocked has no samples: waiting for
/// others makes none the slowest, and its gain is none of the program's. What is left out: threads that spin
/// until others are done, so that a gain of one is one of all.
///
/// That part is Calibration's excess share, at the share of the thread's time that it spends at these
/// accesses. It is bounded: each time that a line leaves a thread, another one fetched it, and has waited as
/// long. Where those others load or lock in the same phase, their waiting is in their samples, and the
/// thread cannot gain more than that (an owner that stores all the time, and a reader that looks now and
/// then). What plain stores of others wait is not in samples: then there is no bound.
///
/// Of plain accesses the low bound is no gain. An out-of-order CPU works on behind a load that waits, and
/// what it did meanwhile takes its own time once nothing waits: all samples of a tight loop are at its load,
/// with and without contention. The calibration's loop needs what it loads, so it shows the most. Locked
/// accesses hold up what follows; but of a thread whose line only such loads fetch, the low bound is no
/// gain, either.
///
/// What a thread waits for at plain accesses may show at other instructions of the same function: a full
/// store buffer, or a load that waits, holds them up. So the high bound counts samples at the thread's own
/// stack, which costs next to nothing otherwise, and samples that lost their address
/// (ThreadSamples::mayWait): the same share of them as of the waiting at plain accesses that ends.
///
/// The bounds hold the spread of the calibration and two standard deviations of the number of samples, over
/// all phases together. What else differs from run to run is not in them: other programs on the same
/// processors, above all.
///
/// `calibration`: of the machine that recorded; null: not known.
Gain gainOf(const analysis::Report& report, const calibration::Calibration* calibration,
            const Replayed& before, const Replayed& after);

/// Of the cycles of all sampled loads: what the loads at `lines` that hit a modified line took above the mean
/// of the same instruction's other loads (where it has none, of all other loads). Empty: no latencies.
std::optional<double> excessCycles(const analysis::Report& report, const std::vector<uint32_t>& lines);

/// "clock, calibrated": the evidence, and whether it is known what contention costs on that machine; with
/// ", bound" where only bounds are known.
std::string basisOf(const analysis::Report& report, const calibration::Calibration* calibration,
                    const Gain& gain = {});

}  // namespace cacheline::advice
