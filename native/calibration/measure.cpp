// Plans the slices, and makes medians of them.
#include "calibration/measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "base/error.h"
#include "calibration/cpu_set.h"
#include "calibration/slice.h"

namespace cacheline::calibration {
namespace {

using Clock = std::chrono::steady_clock;

/// Steps of work: about four cycles each on today's CPUs, so up to some 2 us. Each is 2.5 times the one
/// before.
constexpr std::array<uint32_t, 8> kSteps{0, 6, 15, 38, 95, 237, 593, 1482};
constexpr uint64_t kSliceNs = 100'000, kRehearsalNs = 40'000;
/// Between two looks at the clock, which takes some 50 ns.
constexpr double kBatchNs = 10'000;
constexpr uint64_t kMostBatch = 1 << 20;
/// Changes of the line's owner are counted in one round of so many, and until a count succeeds: it takes
/// time.
constexpr uint64_t kCountEvery = 4;
constexpr size_t kFewestRounds = 3;
/// Slices that take so many times as long are discarded: a hypervisor takes a CPU away without a word.
constexpr uint64_t kMostOver = 2;
constexpr double kMostTimes = 4;  ///< of the wanted seconds

/// The words that are accessed; prefetchers move neighbours of a line, but not of a page's half.
struct Words {
  struct alignas(2048) Line {
    /// A word for each thread: 32 bytes apart they are in one line of any size from 64 on.
    std::array<std::atomic<uint64_t>, 8> words{};
    std::atomic<uint64_t>* of(size_t thread) { return &words[thread * 4]; }
  };
  std::array<Line, 2> own;
  Line shared;
};

Action actionOf(AccessClass which) {
  switch (which) {
    case AccessClass::load:
      return Action::load;
    case AccessClass::store:
      return Action::store;
    case AccessClass::update:
      return Action::update;
    case AccessClass::locked:
      return Action::locked;
    case AccessClass::exchange:
      break;
  }
  return Action::exchange;
}

/// A form of a point's loop.
enum Form : uint8_t { kWork, kAlone, kContended, kCounted };
constexpr size_t kForms = 4;

/// A point of the sweep while it is measured.
struct Cell {
  AccessClass which{};
  uint32_t steps = 0;
  std::array<double, kForms> expectedNs{};      ///< of an iteration, by the newest slice
  std::array<std::vector<double>, 3> ns;        ///< by form and round, ns an iteration
  uint64_t countedIterations = 0, changes = 0;  ///< of all counted rounds
};

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// More digits than a measurement has.
double rounded(double value) {
  return std::round(value * 1000) / 1000;
}

/// The median of what an access of this form adds to the work of its own round: from round to round the clock
/// rate changes by more than an access takes.
double addedBy(Form form, const Cell& cell) {
  std::vector<double> added = cell.ns[form];
  for (size_t i = 0; i < added.size(); i++) added[i] -= cell.ns[kWork][i];
  return medianOf(std::move(added));
}

SweepPoint pointOf(const Cell& cell) {
  SweepPoint point;
  const double work = medianOf(cell.ns[kWork]);
  point.workNs = rounded(work);
  point.aloneNs = rounded(std::max(work + addedBy(kAlone, cell), 0.0));
  point.contendedNs = rounded(std::max(work + addedBy(kContended, cell), 0.0));
  if (cell.changes > 0)
    point.iterationsPerChange =
        rounded(static_cast<double>(cell.countedIterations) / static_cast<double>(cell.changes));
  const double share = excessOf(point.workNs, point.aloneNs, point.contendedNs);
  std::vector<double> deviations;
  for (size_t i = 0; i < cell.ns[kWork].size(); i++)
    deviations.push_back(
        std::abs(excessOf(cell.ns[kWork][i], cell.ns[kAlone][i], cell.ns[kContended][i]) - share));
  point.spread = rounded(medianOf(std::move(deviations)));
  return point;
}

class Measurement {
 public:
  Measurement(const MeasureOptions& options, const std::array<uint32_t, 2>& cpus,
              const std::atomic<bool>& stop)
      : options_(options), cpus_(cpus), stop_(stop), threads_(cpus) {
    for (size_t which = 0; which < kAccessClasses; which++)
      for (const uint32_t steps : kSteps) {
        cells_.push_back({static_cast<AccessClass>(which), steps, {}, {}, 0, 0});
        cells_.back().expectedNs.fill(100 + 1.5 * steps);
      }
  }

  Calibration run() {
    for (Cell& cell : cells_)  // for the caches, and to learn how long an iteration takes
      for (const Form form : {kWork, kAlone, kContended, kCounted}) runSlice(cell, form, kRehearsalNs);
    slices_ = discarded_ = 0;
    for (round_ = 0; goesOn(); round_++)
      for (Cell& cell : cells_) measureCell(cell);
    Calibration calibration{options_.cpuModel, options_.cpuId, cpus_, 0, options_.date, {}, 0, 0};
    calibration.seconds = rounded(elapsed());
    calibration.slices = slices_;
    calibration.discarded = discarded_;
    for (const Cell& cell : cells_) {
      if (cell.ns[kWork].size() < kFewestRounds) refuse();
      calibration.classes[static_cast<size_t>(cell.which)].push_back(pointOf(cell));
    }
    return calibration;
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }

  bool goesOn() const {
    if (elapsed() < options_.seconds) return true;
    return elapsed() < kMostTimes * options_.seconds &&
           std::any_of(cells_.begin(), cells_.end(),
                       [](const Cell& cell) { return cell.ns[kWork].size() < kFewestRounds; });
  }

  [[noreturn]] void refuse() const {
    throw Error(ErrorKind::impossible,
                "CPU " + std::to_string(cpus_[0]) + " and CPU " + std::to_string(cpus_[1]) +
                    " were too busy: in " + std::to_string(discarded_) + " of " + std::to_string(slices_) +
                    " slices a thread did not have its CPU to itself",
                "Run cacheline doctor --calibrate again when the machine is less busy.");
  }

  /// A round counts only whole: what changes from round to round is then the same in all three.
  void measureCell(Cell& cell) {
    if (elapsed() > kMostTimes * options_.seconds) return;
    std::array<double, 3> ns{};
    bool whole = true;
    for (const Form form : {kWork, kAlone, kContended}) {
      const std::optional<double> time = runSlice(cell, form, kSliceNs);
      whole = whole && time.has_value();
      ns[form] = time.value_or(0);
    }
    for (size_t form = 0; whole && form < ns.size(); form++) cell.ns[form].push_back(ns[form]);
    if (round_ % kCountEvery == 0 || cell.countedIterations == 0) runSlice(cell, kCounted, kSliceNs);
  }

  /// Ns an iteration of one thread; nullopt where the slice is discarded.
  std::optional<double> runSlice(Cell& cell, Form form, uint64_t ns) {
    if (stop_.load()) throw Error(ErrorKind::cancelled, "the calibration was cancelled");
    const bool contended = form == kContended || form == kCounted;
    // Threads that only load do not compete: one of the two stores. They take turns in it.
    const bool oneStores = contended && cell.which == AccessClass::load;
    const size_t storing = round_ / kCountEvery % 2;
    Slice slice;
    slice.steps = cell.steps;
    slice.ns = ns;
    slice.batch =
        std::clamp<uint64_t>(static_cast<uint64_t>(kBatchNs / cell.expectedNs[form]), 1, kMostBatch);
    for (size_t i = 0; i < slice.parts.size(); i++) {
      Part& part = slice.parts[i];
      if (form != kWork) part.action = oneStores && i == storing ? Action::store : actionOf(cell.which);
      part.own = (contended ? words_->shared : words_->own[i]).of(i);
      if (form == kCounted) part.watched = words_->shared.of(1 - i);
    }
    const std::array<SliceResult, 2> results = threads_.run(slice);
    slices_++;
    SliceResult sum;
    bool tooLong = false;
    for (size_t i = 0; i < results.size(); i++) {
      sum.descheduled = sum.descheduled || results[i].descheduled;
      tooLong = tooLong || results[i].ns > kMostOver * ns;
      if (oneStores && i == storing) continue;
      sum.iterations += results[i].iterations;
      sum.ns += results[i].ns;
      sum.changes += results[i].changes;
    }
    const double time = static_cast<double>(sum.ns) / static_cast<double>(sum.iterations);
    cell.expectedNs[form] = sum.descheduled ? std::min(cell.expectedNs[form], time) : time;
    if (sum.descheduled || tooLong) {
      discarded_++;
      return std::nullopt;
    }
    if (form == kCounted && ns == kSliceNs) {
      cell.countedIterations += sum.iterations;
      cell.changes += sum.changes;
    }
    return time;
  }

  const MeasureOptions& options_;
  const std::array<uint32_t, 2> cpus_;
  const std::atomic<bool>& stop_;
  const Clock::time_point started_ = Clock::now();
  std::unique_ptr<Words> words_ = std::make_unique<Words>();
  ThreadPair threads_;
  std::vector<Cell> cells_;
  uint64_t round_ = 0, slices_ = 0, discarded_ = 0;
};

/// 0: the best pair.
int rankOf(const CpuPlace& a, const CpuPlace& b) {
  const bool sockets = a.socket >= 0 && b.socket >= 0, cores = a.core >= 0 && b.core >= 0;
  if (sockets && a.socket != b.socket) return 1;
  return sockets && cores && a.core != b.core ? 0 : 2;
}

}  // namespace

std::vector<uint32_t> allowedCpus() {
  std::vector<uint32_t> cpus;
  CpuSet set;
  if (!set.read()) return cpus;
  for (uint32_t cpu = 0; cpu < CpuSet::kCpus; cpu++)
    if (set.has(cpu)) cpus.push_back(cpu);
  return cpus;
}

std::optional<std::array<uint32_t, 2>> choosePair(const std::vector<CpuPlace>& places) {
  std::optional<std::array<uint32_t, 2>> best;
  int bestRank = 3;
  for (size_t i = 0; i < places.size() && bestRank > 0; i++)
    for (size_t j = i + 1; j < places.size() && bestRank > 0; j++)
      if (const int rank = rankOf(places[i], places[j]); rank < bestRank) {
        bestRank = rank;
        best = {places[i].cpu, places[j].cpu};
      }
  return best;
}

Calibration measure(const MeasureOptions& options, const std::atomic<bool>& stop) {
  const auto cpus = choosePair(options.places);
  if (!cpus)
    throw Error(ErrorKind::impossible,
                options.places.empty()
                    ? "the measurement needs two CPUs, and it is not known which this process may use"
                    : "the measurement needs two CPUs, and this process may use only CPU " +
                          std::to_string(options.places[0].cpu),
                "Run it on a machine with two CPUs, without taskset or a CPU set of one.");
  return Measurement(options, *cpus, stop).run();
}

}  // namespace cacheline::calibration
