// A recording of which only some samples are left says what the whole one says, within its bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "analysis/verdict.h"
#include "scenario.h"

namespace cacheline::analysis {
namespace {

using namespace test;

struct Sampled {
  enum Kind : uint8_t { read, write, update } kind = read;
  uint32_t thread = 0;  ///< from 0
  uint64_t offset = 0;  ///< bytes, in the line
};

/// A line that threads use at random.
struct LineShape {
  std::string name;
  uint32_t threads = 0;
  std::function<Sampled(std::mt19937&)> draw;
};

std::vector<LineShape> lineShapes() {
  const auto below = [](std::mt19937& random, uint32_t end) {
    return std::uniform_int_distribution<uint32_t>(0, end - 1)(random);
  };
  std::vector<LineShape> list;
  list.push_back({"two locks that two threads take, and two words beside them that two others read", 4,
                  [=](std::mt19937& random) -> Sampled {
                    const uint32_t who = below(random, 10);
                    const uint64_t word = 8 * below(random, 2);
                    if (who < 8) return {Sampled::update, who / 4, word};
                    return {Sampled::read, who - 6, 32 + word};
                  }});
  for (const uint32_t threads : {4u, 8u}) {
    const std::string n = " of " + std::to_string(threads) + " threads";
    // Half of them produce: they move the tail and read the head. The others do it the other way round.
    list.push_back({"a ring" + n, threads, [=](std::mt19937& random) -> Sampled {
                      const uint32_t thread = below(random, threads);
                      const bool produces = thread % 2 == 0;
                      if (below(random, 2) == 0) return {Sampled::read, thread, produces ? 8u : 0u};
                      return {produces ? Sampled::update : Sampled::write, thread, produces ? 0u : 8u};
                    }});
    list.push_back({"a descriptor" + n, threads, [=](std::mt19937& random) -> Sampled {
                      const uint32_t thread = below(random, threads);
                      if (below(random, 3) == 0) return {Sampled::update, thread, 32};
                      return {Sampled::read, thread, 8 * below(random, 2)};
                    }});
    list.push_back({"a record and its lock" + n, threads, [=](std::mt19937& random) -> Sampled {
                      const uint32_t thread = below(random, threads), what = below(random, 8);
                      if (what < 4) return {Sampled::update, thread, 0};
                      return {what < 6 ? Sampled::read : Sampled::write, thread, 8 + 8 * (what % 2)};
                    }});
    list.push_back({"counters" + n, threads, [=](std::mt19937& random) -> Sampled {
                      const uint32_t thread = below(random, threads);
                      return {Sampled::update, thread, 8 * thread};
                    }});
  }
  return list;
}

/// About `part` of the samples, always the same ones for one seed.
Report thinned(const LineShape& shape, size_t samples, double part, uint32_t seed) {
  Scenario s;
  s.start(100);
  for (uint32_t i = 1; i < shape.threads; ++i) s.thread(100, 100 + i);
  std::mt19937 random(7), keep(1000 + seed);
  std::bernoulli_distribution kept(part);
  for (size_t i = 0; i < samples; ++i) {
    const auto [kind, thread, offset] = shape.draw(random);
    if (!kept(keep)) continue;
    const uint32_t tid = 100 + thread;
    if (kind == Sampled::update)
      s.add(100, tid, kData + offset, thread);
    else if (kind == Sampled::write)
      s.store(100, tid, kData + offset, thread);
    else
      s.load(100, tid, kData + offset, thread);
  }
  return s.report();
}

class ThinnedRecording : public ::testing::TestWithParam<double> {};

TEST_P(ThinnedRecording, KeepsItsVerdictAndBounds) {
  constexpr uint32_t kThinnings = 60;
  for (const LineShape& shape : lineShapes()) {
    SCOPED_TRACE(shape.name);
    const Report whole = thinned(shape, 600, 1, 0);
    const Line* full = lineAt(whole, kData);
    ASSERT_NE(full, nullptr);
    const double value = full->falseShare->value.value();
    uint32_t judged = 0, within = 0, reversed = 0;
    for (uint32_t i = 0; i < kThinnings; ++i) {
      const Report report = thinned(shape, 600, GetParam(), i + 1);
      const Line* line = lineAt(report, kData);
      if (line == nullptr || !isContended(line->verdict)) continue;
      ++judged;
      within += line->falseShare->low <= value && value <= line->falseShare->high;
      const auto are = [&](Verdict a, Verdict b) { return full->verdict == a && line->verdict == b; };
      reversed += are(Verdict::falseSharing, Verdict::trueSharing) ||
                  are(Verdict::trueSharing, Verdict::falseSharing);
    }
    EXPECT_GE(judged, kThinnings * 0.9);
    EXPECT_GE(within, judged * 0.9);
    EXPECT_EQ(reversed, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, ThinnedRecording, ::testing::Values(0.5, 0.1));

TEST(ThinnedRecordings, HaveNarrowBoundsOf200ContendedSamples) {
  std::vector<double> widths;
  for (const LineShape& shape : lineShapes()) {
    const Report report = thinned(shape, 200, 1, 0);
    const Line* line = lineAt(report, kData);
    ASSERT_NE(line, nullptr) << shape.name;
    widths.push_back(line->falseShare->high - line->falseShare->low);
  }
  std::sort(widths.begin(), widths.end());
  EXPECT_LE(widths[widths.size() / 2], 0.3);
}

TEST(ThinnedRecordings, OfReadersBesideLocksHaveVictims) {
  const Report report = thinned(lineShapes().front(), 600, 1, 0);
  const Line* line = lineAt(report, kData);
  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->verdict, Verdict::mixed);
  EXPECT_FALSE(line->victims.empty());
}

}  // namespace
}  // namespace cacheline::analysis
