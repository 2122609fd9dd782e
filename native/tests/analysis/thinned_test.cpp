// A recording of which only some samples are left says what the whole one says, within its bounds.
#include <gtest/gtest.h>

#include <random>

#include "analysis/verdict.h"
#include "scenario.h"

namespace cacheline::analysis {
namespace {

using namespace test;

/// Two threads take two locks; two others read two words beside them.
Report ofLocksBesideReaders(double part, uint32_t thinning) {
  Scenario s;
  s.start(100);
  for (const uint32_t tid : {101u, 102u, 103u}) s.thread(100, tid);
  std::mt19937 random(7), keep(thinning);
  std::discrete_distribution<uint32_t> who({40, 40, 10, 10});
  std::bernoulli_distribution second, kept(part);
  for (int i = 0; i < 600; ++i) {
    const uint32_t thread = who(random);
    const uint64_t word = second(random) ? 8 : 0;
    if (!kept(keep)) continue;
    if (thread < 2)
      s.add(100, 100 + thread, kData + word, thread);
    else
      s.load(100, 100 + thread, kData + 32 + word, thread);
  }
  return s.report();
}

TEST(ThinnedRecording, KeepsItsVerdictAndBounds) {
  constexpr uint32_t kThinnings = 200;
  const Report whole = ofLocksBesideReaders(1, 0);
  const Line* full = lineAt(whole, kData);
  ASSERT_NE(full, nullptr);
  EXPECT_EQ(full->verdict, Verdict::mixed);
  EXPECT_FALSE(full->victims.empty());
  const double value = full->falseShare->value.value();
  for (const double part : {0.5, 0.25, 0.1}) {
    uint32_t judged = 0, within = 0;
    for (uint32_t i = 0; i < kThinnings; ++i) {
      const Report report = ofLocksBesideReaders(part, i + 1);
      const Line* line = lineAt(report, kData);
      if (line == nullptr || !isContended(line->verdict)) continue;
      ++judged;
      within += line->falseShare->low <= value && value <= line->falseShare->high;
    }
    EXPECT_GE(judged, kThinnings * 0.9) << part;
    EXPECT_GE(within, judged * 0.9) << part;
  }
}

}  // namespace
}  // namespace cacheline::analysis
