// Lower bounds of the number of lines, on footprints that are known: used evenly, by Zipf's law, and once
// only.
#include "workset/richness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace cacheline::workset {
namespace {

/// Samples of lines, in the order of time.
Frequencies tallied(const std::vector<uint32_t>& samples, uint32_t lines) {
  std::vector<LineTally> tallies(lines);
  Frequencies frequencies;
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto bin = static_cast<uint32_t>(i * kBins / samples.size());
    tallies[samples[i]].add(bin, 1);
    ++frequencies.bins[bin];
  }
  for (const LineTally& tally : tallies) frequencies.add(tally);
  return frequencies;
}

/// Draws from lines of which number i is used in proportion to 1 / (i + 1)^exponent; 0: evenly.
class Footprint {
 public:
  Footprint(uint32_t lines, double exponent) : lines_(lines) {
    std::vector<double> weights;
    for (uint32_t i = 0; i < lines; ++i) weights.push_back(std::pow(i + 1, -exponent));
    choose_ = std::discrete_distribution<uint32_t>(weights.begin(), weights.end());
  }
  Richness sampled(uint32_t samples, uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<uint32_t> drawn;
    for (uint32_t i = 0; i < samples; ++i) drawn.push_back(choose_(random));
    return richnessOf(tallied(drawn, lines_));
  }

 private:
  uint32_t lines_;
  std::discrete_distribution<uint32_t> choose_;
};

struct Case {
  const char* name;
  double exponent;
  uint32_t lines, samples;
  double leastEstimate;  ///< of the lines: what the estimate has to reach on average
};

/// The table of docs/design/workset.md is printed by it.
TEST(Richness, IsALowerBoundOfKnownFootprints) {
  constexpr uint32_t kRuns = 40;
  const Case cases[] = {
      {"even", 0, 512, 2000, 0.97},        {"even", 0, 4096, 2000, 0.9},
      {"even", 0, 65536, 2000, 0.7},       {"even", 0, 65536, 20000, 0.95},
      {"Zipf 0.8", 0.8, 4096, 2000, 0.45}, {"Zipf 0.8", 0.8, 65536, 20000, 0.4},
      {"Zipf 1", 1, 4096, 2000, 0.3},      {"Zipf 1", 1, 65536, 20000, 0.25},
  };
  for (const Case& one : cases) {
    Footprint footprint(one.lines, one.exponent);
    double sampled = 0, atLeast = 0, estimate = 0, coverage = 0;
    uint32_t above = 0;
    for (uint32_t run = 0; run < kRuns; ++run) {
      const Richness found = footprint.sampled(one.samples, run);
      ASSERT_TRUE(found.atLeast && found.coverage);
      sampled += static_cast<double>(found.lines);
      atLeast += static_cast<double>(*found.atLeast);
      estimate += static_cast<double>(found.estimate.value_or(found.lines));
      coverage += *found.coverage;
      above += *found.atLeast > one.lines ? 1 : 0;
    }
    const double truth = one.lines;
    std::printf("| %s | %u | %u | %.0f | %.1f %% | %.0f | %.0f | %u of %u |\n", one.name, one.lines,
                one.samples, sampled / kRuns, 100 * coverage / kRuns, atLeast / kRuns, estimate / kRuns,
                above, kRuns);
    SCOPED_TRACE(std::string(one.name) + " " + std::to_string(one.lines));
    EXPECT_GE(estimate / kRuns, one.leastEstimate * truth);
    EXPECT_LE(estimate / kRuns, 1.1 * truth);
    EXPECT_LE(above, kRuns / 10);
    EXPECT_LE(sampled, atLeast);
  }
}

TEST(Richness, KnowsTheCoverageOfAFootprint) {
  // Half of the accesses go to one line, the rest evenly to 10,000.
  std::mt19937 random(1);
  std::vector<uint32_t> drawn;
  for (int i = 0; i < 2000; ++i)
    drawn.push_back(random() % 2 == 0 ? 0 : static_cast<uint32_t>(1 + random() % 10'000));
  const Frequencies frequencies = tallied(drawn, 10'001);
  const Richness found = richnessOf(frequencies);
  const double truth = 0.5 + 0.5 * static_cast<double>(found.lines - 1) / 10'000;
  EXPECT_NEAR(found.coverage.value_or(0), truth, 0.03);
}

TEST(Richness, DoesNotExtrapolateFromLinesThatAreUsedOnce) {
  // A program that goes once through 30,000 lines, three a sample: no clock samples one of them twice.
  std::vector<uint32_t> drawn;
  for (uint32_t i = 0; i < 10'000; ++i) drawn.push_back(3 * i);
  const Richness once = richnessOf(tallied(drawn, 30'000));
  EXPECT_EQ(once.atLeast, 10'000u);
  EXPECT_EQ(once.estimate, std::nullopt);
  EXPECT_NE(once.reason, "");
  // One line for two samples: those that were sampled twice were so in one go.
  drawn.clear();
  for (uint32_t i = 0; i < 10'000; ++i) drawn.push_back(i % 3 == 2 ? i - 1 : i);
  const Richness slow = richnessOf(tallied(drawn, 10'000));
  EXPECT_EQ(slow.atLeast, slow.lines);
  EXPECT_EQ(slow.estimate, std::nullopt);
}

TEST(Richness, IsNotMisledByEvenSampling) {
  // 5,000 lines again and again in order, 97 of them from sample to sample: no two samples of one round meet.
  std::vector<uint32_t> drawn;
  for (uint32_t i = 0; i < 4000; ++i) drawn.push_back(static_cast<uint32_t>(uint64_t{i} * 97 % 5000));
  const Richness found = richnessOf(tallied(drawn, 5000));
  EXPECT_EQ(found.lines, 4000u);
  EXPECT_EQ(found.atLeast, 4000u);
}

TEST(Richness, SaysThatThereAreTooFewSamples) {
  const Richness found = richnessOf(tallied(std::vector<uint32_t>(49, 3), 10));
  EXPECT_EQ(found.lines, 1u);
  EXPECT_EQ(found.atLeast, std::nullopt);
  EXPECT_EQ(found.coverage, std::nullopt);
  EXPECT_EQ(found.reason, "there are 49 samples, and 50 are needed");
  const Richness none = richnessOf({});
  EXPECT_EQ(none.atLeast, std::nullopt);
}

TEST(Richness, IsExactWhereEveryLineIsSampledOften) {
  std::vector<uint32_t> drawn;
  for (uint32_t i = 0; i < 1000; ++i) drawn.push_back(i % 20);
  const Richness found = richnessOf(tallied(drawn, 20));
  EXPECT_EQ(found.coverage, 1.0);
  EXPECT_EQ(found.atLeast, 20u);
  EXPECT_EQ(found.estimate, 20u);
}

}  // namespace
}  // namespace cacheline::workset
