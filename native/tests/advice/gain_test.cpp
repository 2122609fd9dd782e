// Speedups of made threads.
#include "advice/gain.h"

#include <gtest/gtest.h>

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

Replayed waiting(const std::map<std::pair<uint32_t, AccessClass>, double>& samples) {
  Replayed replayed;
  replayed.byThread = samples;
  return replayed;
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
  EXPECT_TRUE(gain.plainWritesDominate);
  const Gain mixed = gainOf(threadsOf({1000, 1000}), &known,
                            waiting({{{0, AccessClass::store}, 300}, {{1, AccessClass::locked}, 900}}), {});
  EXPECT_FALSE(mixed.plainWritesDominate);
}

TEST(Gain, HasBoundsOnlyAtPlainReadModifyWrites) {
  calibration::Calibration known = costing(0.8);
  known.classes[static_cast<size_t>(AccessClass::update)] = {{1, 2, 3, std::nullopt, 0}, {9, 10, 109, 2, 0}};
  const Gain gain = gainOf(threadsOf({1000, 1000}), &known,
                           waiting({{{0, AccessClass::update}, 900}, {{1, AccessClass::update}, 900}}), {});
  EXPECT_TRUE(gain.plainWritesDominate);
  EXPECT_LT(gain.speedup->low, 1000 / (1000 - 0.5 * 900));
  EXPECT_GT(gain.speedup->high, 1000 / (1000 - 0.99 * 900));
}

/// The owner's line leaves it as often as the reader fetches it.
TEST(Gain, IsBoundedByWhatOthersWait) {
  const calibration::Calibration known = costing(0.9);
  const Gain gain = gainOf(threadsOf({1000, 200}), &known,
                           waiting({{{0, AccessClass::store}, 900}, {{1, AccessClass::load}, 10}}), {});
  EXPECT_LE(gain.most, 1000.0 / 990 + 1e-9);
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
  EXPECT_EQ(basisOf(threadsOf({1}), &known, {.plainWritesDominate = true}), "clock, calibrated, bound");
}

}  // namespace
}  // namespace cacheline::advice
