// Phases of made lives, with known answers.
#include "analysis/phases.h"

#include <gtest/gtest.h>

namespace cacheline::analysis {
namespace {

using Begins = std::vector<uint64_t>;

constexpr uint64_t kMs = 1'000'000;

LifeSpan life(uint64_t from, uint64_t until) {
  return {from * kMs, until * kMs};
}

Begins phases(const std::vector<LifeSpan>& lives) {
  Begins begins = phasesOf(lives);
  for (uint64_t& begin : begins) begin /= kMs;
  return begins;
}

TEST(Phases, AreOneWithoutLivesAndOfThreadsThatWereAlwaysThere) {
  EXPECT_EQ(phasesOf({}), Begins{0});
  EXPECT_EQ(phasesOf({{}, {}}), Begins{0});
  EXPECT_EQ(phases({{}, life(100, 200), life(300, 400)}), Begins{0}) << "one worked all the time";
}

TEST(Phases, AreRoundsOfThreadsAndWhatIsBetween) {
  EXPECT_EQ(phases({life(100, 200), life(110, 190)}), (Begins{0, 100, 200}));
  EXPECT_EQ(phases({life(300, 400), life(100, 200), life(110, 250), life(310, 380)}),
            (Begins{0, 100, 250, 300, 400}));
  EXPECT_EQ(phases({life(0, 200), life(200, 400)}), (Begins{0, 200, 400}));
}

TEST(Phases, HoldThreadsThatOverlapTheSameOnes) {
  EXPECT_EQ(phases({life(100, 200), life(150, 400), life(380, 600)}), (Begins{0, 100, 600}));
  EXPECT_EQ(phases({life(100, 1000), life(120, 300), life(400, 500)}), (Begins{0, 100, 1000}));
}

TEST(Phases, TakeAnEndThatIsRecordedLateForNoOverlap) {
  EXPECT_EQ(phases({life(100, 205), life(100, 199), life(200, 300)}), (Begins{0, 100, 200, 300}));
  EXPECT_EQ(phases({life(100, 215), life(200, 400)}), (Begins{0, 100, 400})) << "that is too late";
  EXPECT_EQ(phases({life(100, 106), life(104, 110)}), (Begins{0, 100, 110})) << "a third of their lives";
}

TEST(Phases, HaveTimes) {
  const Begins begins{0, 100, 200};
  EXPECT_EQ(phaseAt({}, 50), 0u);
  EXPECT_EQ(phaseAt(begins, 0), 0u);
  EXPECT_EQ(phaseAt(begins, 99), 0u);
  EXPECT_EQ(phaseAt(begins, 100), 1u);
  EXPECT_EQ(phaseAt(begins, ~uint64_t{0}), 2u);
}

}  // namespace
}  // namespace cacheline::analysis
