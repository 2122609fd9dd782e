// Speedups of made threads.
#include "advice/gain.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cacheline::advice {
namespace {

using calibration::AccessClass;

/// Contention costs `excess` of each access's time, however often it comes.
calibration::Calibration costing(double excess) {
  calibration::Calibration made;
  for (auto& points : made.classes) {
    for (const double work : {1.0, 100.0})
      points.push_back({work, work + 100 * (1 - excess), work + 100, std::nullopt, 0});
  }
  return made;
}

analysis::Report threadsOf(const std::vector<uint64_t>& samples) {
  analysis::Report report;
  report.evidence = {"clock"};
  for (uint32_t thread = 0; thread < samples.size(); ++thread)
    report.threads.push_back({1, thread, samples[thread]});
  return report;
}

/// By thread and access, in the first phase.
Replayed waiting(const std::map<std::pair<uint32_t, AccessClass>, double>& samples) {
  Replayed replayed;
  for (const auto& [key, count] : samples) replayed.byThread[{0, key.first, key.second}] = count;
  return replayed;
}

/// Samples of each thread, by phase.
analysis::Report phasesOf(const std::vector<std::map<uint32_t, uint64_t>>& threads) {
  analysis::Report report = threadsOf(std::vector<uint64_t>(threads.size()));
  for (size_t thread = 0; thread < threads.size(); ++thread) {
    report.threads[thread].byPhase = threads[thread];
    for (const auto& [phase, samples] : threads[thread]) report.threads[thread].samples += samples;
  }
  return report;
}

TEST(Gain, IsThatOfTheSlowestThread) {
  const calibration::Calibration known = costing(0.9);
  const Gain gain = gainOf(threadsOf({1000, 1000}), &known,
                           waiting({{{0, AccessClass::locked}, 800}, {{1, AccessClass::locked}, 800}}), {});
  ASSERT_TRUE(gain.speedup);
  EXPECT_NEAR(gain.speedup->mid, 1000.0 / (1000 - 0.9 * 800), 1e-6);
  const Gain half = gainOf(threadsOf({1000, 1000, 900}), &known,
                           waiting({{{0, AccessClass::locked}, 800}, {{1, AccessClass::locked}, 800}}), {});
  EXPECT_NEAR(half.speedup->mid, 1000.0 / 900, 1e-6);
}

TEST(Gain, LeavesAnAccessTheTimeThatItTakesAlone) {
  const calibration::Calibration known = costing(0.9);
  const Gain gain = gainOf(threadsOf({1000, 1000}), &known,
                           waiting({{{0, AccessClass::locked}, 1000}, {{1, AccessClass::locked}, 1000}}), {});
  EXPECT_NEAR(gain.speedup->mid, 10, 0.1);
  EXPECT_NEAR(gain.speedup->high, 10, 0.1) << "chance makes samples more, and no access faster";
}

TEST(Gain, IsMoreWhereAThreadGoesFromLineToLine) {
  calibration::Calibration known;
  for (auto& points :
       known.classes)  // 99% and half of the time at the access; 70% and 95% of that is due to others
    points = {{1, 31, 101, std::nullopt, 0}, {100, 105, 200, std::nullopt, 0}};
  const analysis::Report report = threadsOf({1000, 1000});
  Replayed one, three;
  for (const uint32_t thread : {0u, 1u}) {
    one.byThread[{0, thread, AccessClass::locked, 0}] = 990;
    for (const uint32_t line : {0u, 1u, 2u}) three.byThread[{0, thread, AccessClass::locked, line}] = 330;
  }
  const Speedup atOne = *gainOf(report, &known, one, {}).speedup;
  const Speedup atThree = *gainOf(report, &known, three, {}).speedup;
  EXPECT_NEAR(atOne.mid, 1 / (1 - 0.99 * 0.7), 0.02);
  EXPECT_NEAR(atThree.mid, 1 / (1 - 0.99 * 0.95), 0.5);
  EXPECT_NEAR(atThree.low, atOne.low, 0.2) << "it may use one line after the other";
  // What stays is on lines of another number.
  Replayed left;
  for (const uint32_t thread : {0u, 1u}) left.byThread[{0, thread, AccessClass::locked, 7}] = 495;
  EXPECT_NEAR(gainOf(report, &known, three, left).speedup->mid, 1 / (1 - 0.495 * 0.95), 0.02);
}

TEST(Gain, IsLessWhereSomeWaitingStays) {
  const calibration::Calibration known = costing(0.5);
  const Replayed before = waiting({{{0, AccessClass::load}, 400}, {{1, AccessClass::load}, 400}});
  const Replayed after = waiting({{{0, AccessClass::load}, 300}, {{1, AccessClass::load}, 300}});
  EXPECT_NEAR(gainOf(threadsOf({500, 500}), &known, before, after).speedup->mid, 500.0 / 450, 1e-6);
}

TEST(Gain, IsUnknownWithoutACalibrationButBounded) {
  const Gain gain = gainOf(threadsOf({1000, 1000}), nullptr,
                           waiting({{{0, AccessClass::load}, 500}, {{1, AccessClass::load}, 500}}), {});
  EXPECT_FALSE(gain.speedup);
  EXPECT_DOUBLE_EQ(gain.most, 2);
}

TEST(Gain, HasNoLowerBoundAtPlainStores) {
  const calibration::Calibration known = costing(0.8);
  const Gain gain = gainOf(threadsOf({1000, 1000}), &known,
                           waiting({{{0, AccessClass::store}, 900}, {{1, AccessClass::store}, 900}}), {});
  EXPECT_DOUBLE_EQ(gain.speedup->low, 1);
  EXPECT_GT(gain.speedup->high, 2);
  EXPECT_TRUE(gain.plainAccessesDominate);
  const Gain mixed = gainOf(threadsOf({1000, 1000}), &known,
                            waiting({{{0, AccessClass::store}, 300}, {{1, AccessClass::locked}, 900}}), {});
  EXPECT_FALSE(mixed.plainAccessesDominate);
}

/// A CPU works on behind a load that waits.
TEST(Gain, HasNoLowerBoundAtPlainLoads) {
  const calibration::Calibration known = costing(0.8);
  const Gain gain = gainOf(threadsOf({1000, 1000}), &known,
                           waiting({{{0, AccessClass::load}, 900}, {{1, AccessClass::load}, 900}}), {});
  EXPECT_DOUBLE_EQ(gain.speedup->low, 1);
  EXPECT_TRUE(gain.plainAccessesDominate);
  // What locked accesses wait is sure, though the loads of the same threads are not.
  const Gain locked = gainOf(threadsOf({1000, 1000}), &known,
                             waiting({{{0, AccessClass::load}, 300},
                                      {{0, AccessClass::locked}, 600},
                                      {{1, AccessClass::load}, 300},
                                      {{1, AccessClass::locked}, 600}}),
                             {});
  EXPECT_NEAR(locked.speedup->low, 1000 / (1000 - (0.8 * 600 - 2 * std::sqrt(720 * 0.28))), 1e-6);
  EXPECT_FALSE(locked.plainAccessesDominate);
}

/// What a function waits for at its plain accesses may show at its accesses to the thread's own stack.
TEST(Gain, CountsWhatMayBeWaitingForTheHighestBoundOnly) {
  const calibration::Calibration known = costing(0.8);
  analysis::Report report = threadsOf({1000, 1000});
  for (analysis::ThreadSamples& thread : report.threads)
    thread.mayWait = {{{0, 7}, 400}, {{0, 8}, 100}, {{1, 7}, 50}};
  const auto gain = [&](AccessClass access, double left) {
    Replayed before, after;
    for (const uint32_t thread : {0u, 1u}) {
      before.byThread[{0, thread, access, 0, 7}] = 400;
      after.byThread[{0, thread, access, 0, 7}] = left;
    }
    return std::pair(gainOf(report, &known, before, after), gainOf(report, nullptr, before, after));
  };
  const auto [plain, plainUncalibrated] = gain(AccessClass::load, 0);
  EXPECT_DOUBLE_EQ(plain.speedup->low, 1);
  EXPECT_NEAR(plain.speedup->mid, 1000 / (1000 - 0.8 * 400), 1e-6);
  EXPECT_NEAR(plain.speedup->high, 1000 / (1000 - 0.8 * 800 - 2 * std::sqrt(320 * 0.68)), 1e-6);
  EXPECT_NEAR(plain.mostShown, 1000 / (1000 - 0.8 * 400 - 2 * std::sqrt(320 * 0.68)), 1e-6);
  EXPECT_NEAR(plainUncalibrated.most, 1000 / (1000 - 800.0), 1e-6);
  EXPECT_NEAR(plainUncalibrated.mostShown, 1000 / (1000 - 400.0), 1e-6);
  // Half of the waiting stays.
  EXPECT_NEAR(gain(AccessClass::load, 200).second.most, 1000 / (1000 - 400.0), 1e-6);
  const auto [locked, lockedUncalibrated] = gain(AccessClass::locked, 0);
  EXPECT_NEAR(locked.speedup->high, 1000 / (1000 - 0.8 * 400 - 2 * std::sqrt(320 * 0.68)), 1e-6);
  EXPECT_NEAR(lockedUncalibrated.most, 1000 / (1000 - 400.0), 1e-6);
}

/// How long the owner waits is as little known as what its readers wait.
TEST(Gain, HasNoLowerBoundForAnOwnerWhoseReadersOnlyLoad) {
  const calibration::Calibration known = costing(0.8);
  const auto by = [&](AccessClass others) {
    return gainOf(threadsOf({1000, 1000}), &known,
                  waiting({{{0, AccessClass::locked}, 900}, {{1, others}, 900}}), {});
  };
  const Gain read = by(AccessClass::load);
  EXPECT_DOUBLE_EQ(read.speedup->low, 1);
  EXPECT_NEAR(read.speedup->mid, 1000 / 280.0, 1e-6);
  EXPECT_TRUE(read.plainAccessesDominate);
  EXPECT_FALSE(by(AccessClass::exchange).plainAccessesDominate);
  EXPECT_GT(by(AccessClass::exchange).speedup->low, 3);
}

TEST(Gain, HasBoundsOnlyAtPlainReadModifyWrites) {
  calibration::Calibration known = costing(0.8);
  known.classes[static_cast<size_t>(AccessClass::update)] = {{1, 2, 3, std::nullopt, 0}, {9, 10, 109, 2, 0}};
  const Gain gain = gainOf(threadsOf({1000, 1000}), &known,
                           waiting({{{0, AccessClass::update}, 900}, {{1, AccessClass::update}, 900}}), {});
  EXPECT_TRUE(gain.plainAccessesDominate);
  EXPECT_LT(gain.speedup->low, 1000 / (1000 - 0.5 * 900));
  EXPECT_GT(gain.speedup->high, 1000 / (1000 - 0.99 * 900));
}

/// The owner's line leaves it as often as the reader fetches it.
TEST(Gain, IsBoundedByWhatOthersWait) {
  const calibration::Calibration known = costing(0.9);
  const Gain gain = gainOf(threadsOf({1000, 200}), &known,
                           waiting({{{0, AccessClass::store}, 900}, {{1, AccessClass::load}, 10}}), {});
  // Ten samples: two standard deviations are 6.3.
  EXPECT_NEAR(gain.speedup->mid, 1000.0 / 990, 1e-6);
  EXPECT_DOUBLE_EQ(gain.speedup->low, 1);
  EXPECT_NEAR(gain.most, 1000.0 / (990 - 2 * std::sqrt(10)), 1e-6);
}

/// A main thread works alone, then two threads wait for each other while it is blocked.
TEST(Gain, AddsUpPhasesThatFollowEachOther) {
  const calibration::Calibration known = costing(0.9);
  Replayed before;
  for (const uint32_t thread : {1u, 2u}) before.byThread[{1, thread, AccessClass::locked}] = 800;
  const std::vector<std::map<uint32_t, uint64_t>> threads{{{0, 1000}, {1, 10}}, {{1, 1000}}, {{1, 1000}}};
  EXPECT_NEAR(gainOf(phasesOf(threads), &known, before, {}).speedup->mid, 2000.0 / (1000 + 280), 1e-6);
  // At the same time as the others its own work would hide what they gain.
  Replayed together;
  for (const auto& [key, count] : before.byThread) together.byThread[{0, key.thread, key.access}] = count;
  EXPECT_NEAR(gainOf(threadsOf({1010, 1000, 1000}), &known, together, {}).speedup->mid, 1, 1e-6);
}

TEST(Gain, TakesTheSlowestThreadOfEachPhase) {
  const calibration::Calibration known = costing(0.9);
  Replayed before;
  before.byThread[{0, 0, AccessClass::locked}] = 800;
  before.byThread[{0, 1, AccessClass::locked}] = 800;
  // Of the first phase the third thread is left as the slowest one; the second has nothing to gain.
  const Gain gain =
      gainOf(phasesOf({{{0, 1000}}, {{0, 1000}}, {{0, 400}}, {{1, 1000}}, {{1, 700}}}), &known, before, {});
  EXPECT_NEAR(gain.speedup->mid, 2000.0 / (400 + 1000), 1e-6);
  EXPECT_NEAR(gain.mostOfThread, 5, 1e-6);
}

TEST(Gain, GivesNothingToThreadsThatOnlyWaitForOthers) {
  const calibration::Calibration known = costing(0.9);
  Replayed before;
  for (const uint32_t thread : {1u, 2u}) before.byThread[{1, thread, AccessClass::locked}] = 90;
  EXPECT_DOUBLE_EQ(
      gainOf(phasesOf({{{0, 500}, {1, 1000}}, {{1, 100}}, {{1, 100}}}), &known, before, {}).speedup->high, 1);
}

/// The only other thread that waits does so in another phase: nobody fetches the line from the owner.
TEST(Gain, IsBoundedByWhatOthersWaitInThePhase) {
  const calibration::Calibration known = costing(0.9);
  Replayed before;
  before.byThread[{0, 0, AccessClass::store}] = 900;
  before.byThread[{1, 1, AccessClass::load}] = 900;
  // In the owner's phase nobody was seen to wait: it may be two samples that chance left out.
  EXPECT_NEAR(gainOf(phasesOf({{{0, 1000}}, {{1, 1000}}}), &known, before, {}).most, 1, 0.002);
}

/// As many samples tell as much, in however many phases they are.
TEST(Gain, IsNoLessSureInManyPhases) {
  const calibration::Calibration known = costing(0.5);
  Replayed one, many;
  std::map<uint32_t, uint64_t> apart;
  for (uint32_t phase = 0; phase < 25; ++phase) {
    for (const uint32_t thread : {0u, 1u}) many.byThread[{phase, thread, AccessClass::locked}] = 80;
    apart[phase] = 100;
  }
  for (const uint32_t thread : {0u, 1u}) one.byThread[{0, thread, AccessClass::locked}] = 2000;
  const Speedup together = *gainOf(threadsOf({2500, 2500}), &known, one, {}).speedup;
  const Speedup parts = *gainOf(phasesOf({apart, apart}), &known, many, {}).speedup;
  EXPECT_NEAR(parts.low, together.low, 1e-6);
  EXPECT_NEAR(parts.mid, together.mid, 1e-6);
  EXPECT_NEAR(parts.high, together.high, 1e-6);
}

TEST(Gain, IsNotKnownOfMemorySamples) {
  const Gain gain = gainOf(analysis::Report{}, nullptr, waiting({{{0, AccessClass::load}, 10}}), {});
  EXPECT_FALSE(gain.speedup);
}

TEST(Gain, OfLatenciesIsWhatHitsTookAboveOtherLoads) {
  analysis::Report report;
  analysis::Line& line = report.lines.emplace_back();
  analysis::Access& access = line.accesses.emplace_back();
  access.memory.emplace().counts.localHitm = 10;
  analysis::Cycles& cycles = access.memory->cycles.emplace();
  cycles.loads = 30;  // 10 of 300 cycles and 20 of 50
  cycles.sum = 4000;
  cycles.localHitm = 300;
  cycles.load = 50;
  EXPECT_DOUBLE_EQ(*excessCycles(report, {0}), 2500.0 / 4000);
  EXPECT_FALSE(excessCycles(analysis::Report{}, {}));
}

TEST(Gain, SaysWhatItRestsOn) {
  const calibration::Calibration known = costing(0.5);
  EXPECT_EQ(basisOf(threadsOf({1}), &known), "clock, calibrated");
  EXPECT_EQ(basisOf(threadsOf({1}), nullptr), "clock, not calibrated");
  EXPECT_EQ(basisOf(threadsOf({1}), &known, {.plainAccessesDominate = true}), "clock, calibrated, bound");
}

}  // namespace
}  // namespace cacheline::advice
