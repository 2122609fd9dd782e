// Which CPUs are taken, and one real measurement.
#include "calibration/measure.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "calibration/calibration_json.h"
#include "calibration/cpu_set.h"

namespace cacheline::calibration {
namespace {

using Pair = std::array<uint32_t, 2>;

TEST(Pair, IsOnOneSocketAndTwoCores) {
  EXPECT_EQ(choosePair({{0, 0, 0}, {1, 1, 0}, {2, 0, 0}, {3, 0, 1}}), (Pair{0, 3}));
  EXPECT_EQ(choosePair({{4, 0, 7}, {5, 0, 8}, {6, 0, 9}}), (Pair{4, 5})) << "the first of equal ones";
}

TEST(Pair, ElseOnTwoSocketsElseAnyTwo) {
  EXPECT_EQ(choosePair({{0, 0, 0}, {8, 0, 0}, {1, 1, 0}}), (Pair{0, 1}));
  EXPECT_EQ(choosePair({{0, 0, 0}, {8, 0, 0}}), (Pair{0, 8})) << "two threads of one core";
  EXPECT_EQ(choosePair({{0, -1, -1}, {1, -1, -1}}), (Pair{0, 1})) << "nothing is known of them";
}

TEST(Pair, TakesTwoCpus) {
  EXPECT_FALSE(choosePair({}));
  EXPECT_FALSE(choosePair({{3, 0, 0}}));
  const std::atomic<bool> stop{false};
  MeasureOptions options;
  options.places = {{3, 0, 0}};
  try {
    measure(options, stop);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::impossible);
    EXPECT_NE(std::string(error.what()).find("may use only CPU 3"), std::string::npos) << error.what();
    EXPECT_FALSE(error.nextStep().empty());
  }
}

TEST(AllowedCpus, AreThoseOfTheThread) {
  const std::vector<uint32_t> all = allowedCpus();
  ASSERT_FALSE(all.empty());
  CpuSet before, one;
  ASSERT_TRUE(before.read());
  one.add(all.back());
  ASSERT_TRUE(one.apply());
  EXPECT_EQ(allowedCpus(), std::vector<uint32_t>{all.back()});
  ASSERT_TRUE(before.apply());
  EXPECT_EQ(allowedCpus(), all);
}

MeasureOptions here() {
  MeasureOptions options{"Model", "Id", "2026-01-02T03:04:05.678Z", {}, 0.5};
  for (const uint32_t cpu : allowedCpus()) options.places.push_back({cpu, -1, -1});
  return options;
}

TEST(Measure, RefusesCpusThatAreNotThere) {
  MeasureOptions options = here();
  options.places = {options.places.at(0), {60'000, 0, 0}};
  const std::vector<uint32_t> before = allowedCpus();
  const std::atomic<bool> stop{false};
  try {
    measure(options, stop);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::impossible);
    EXPECT_NE(std::string(error.what()).find("CPU 60000"), std::string::npos) << error.what();
  }
  EXPECT_EQ(allowedCpus(), before) << "the thread may run where it might";
}

TEST(Measure, Stops) {
  if (allowedCpus().size() < 2) GTEST_SKIP() << "this process may use one CPU";
  const std::atomic<bool> stop{true};
  try {
    measure(here(), stop);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cancelled);
  }
}

// Times are this machine's own business; that a busy one says so is an answer, too.
TEST(MeasureLive, HasAllPointsOfAllClasses) {
  if (allowedCpus().size() < 2) GTEST_SKIP() << "this process may use one CPU";
  const std::vector<uint32_t> before = allowedCpus();
  const std::atomic<bool> stop{false};
  Calibration calibration;
  try {
    calibration = measure(here(), stop);
  } catch (const Error& error) {
    ASSERT_EQ(error.kind(), ErrorKind::impossible);
    GTEST_SKIP() << error.what();
  }
  EXPECT_EQ(allowedCpus(), before);
  EXPECT_EQ(calibration.cpuModel, "Model");
  EXPECT_EQ(calibration.cpuId, "Id");
  EXPECT_EQ(calibration.date, "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(calibration.cpus, choosePair(here().places));
  EXPECT_GE(calibration.seconds, 0.5);
  EXPECT_LT(calibration.discarded, calibration.slices);
  for (const auto& points : calibration.classes) {
    ASSERT_EQ(points.size(), 8u);
    for (const SweepPoint& point : points) {
      EXPECT_GT(point.workNs, 0);
      EXPECT_GT(point.aloneNs, 0);
      EXPECT_GT(point.contendedNs, 0);
      EXPECT_GE(point.spread, 0);
      EXPECT_LE(point.spread, 1);
      if (point.iterationsPerChange) {
        EXPECT_GE(*point.iterationsPerChange, 1);
      }
    }
    EXPECT_GT(points.back().workNs, points.front().workNs) << "1482 steps take longer than none";
  }
  const std::string json = toJson(calibration);
  EXPECT_EQ(toJson(parse(json)), json);
}

}  // namespace
}  // namespace cacheline::calibration
