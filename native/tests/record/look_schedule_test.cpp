// When a recording is looked at while it is made: in made-up time.
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "record/watch_schedule.h"

namespace cacheline::record {
namespace {

using namespace std::chrono_literals;
using Time = LookSchedule::Clock::time_point;
using Duration = LookSchedule::Clock::duration;

struct Look {
  Duration begin{}, used{};  ///< after the recording's begin; CPU time
  uint64_t opened = 0;
};

/// The looks in a recording of that length, on a CPU of their own. `next`: what the look with that number, at
/// that age, uses and opens.
std::vector<Look> looksIn(Duration length, const std::function<Look(size_t, Duration)>& next) {
  std::vector<Look> looks;
  LookSchedule schedule{Time()};
  for (Duration age{}; age < length; age += 10ms) {
    if (!schedule.isDue(Time() + age)) continue;
    schedule.begin(Time() + age);
    EXPECT_FALSE(schedule.isDue(Time() + age)) << "one at a time";
    Look look = next(looks.size(), age);
    look.begin = age;
    looks.push_back(look);
    age += look.used;
    schedule.end(Time() + age, look.used, look.opened);
  }
  return looks;
}

Duration usedByCounted(const std::vector<Look>& looks) {
  Duration sum{};
  for (const Look& look : looks)
    if (look.opened == 0) sum += look.used;
  return sum;
}

TEST(LookSchedule, LooksTwiceInTwoSecondsHoweverMuchIsReadFirst) {
  for (const Duration reading : {0ms, 50ms, 300ms, 1500ms}) {
    const auto looks = looksIn(2s, [&](size_t number, Duration) {
      return number == 0 ? Look{.used = reading, .opened = 3} : Look{.used = 100ms};
    });
    EXPECT_GE(looks.size(), 2u) << reading.count();
  }
}

TEST(LookSchedule, APauseFollowsALookThatReadNothingNew) {
  const auto looks = looksIn(8s, [](size_t, Duration) { return Look{.used = 300ms}; });
  ASSERT_EQ(looks.size(), 2u);
  EXPECT_GE(looks[1].begin - looks[0].begin, 6s);
}

TEST(LookSchedule, ALibraryThatIsLoadedLaterDelaysNothing) {
  const auto looks = looksIn(8s, [](size_t number, Duration) {
    return number == 2 ? Look{.used = 500ms, .opened = 1} : Look{.used = 10ms};
  });
  ASSERT_GE(looks.size(), 4u);
  EXPECT_LE(looks[3].begin - looks[2].begin, 2s);
}

TEST(LookSchedule, LooksTakeATwentiethOfACpuOfABusyRecording) {
  for (const int percent : {1, 10, 100}) {  // of its age: the samples become more
    const auto looks = looksIn(600s, [&](size_t number, Duration age) {
      return Look{.used = age * percent / 100, .opened = number == 0 ? uint64_t{2} : 0};
    });
    ASSERT_GE(looks.size(), 3u);
    const Duration last = looks.back().used;
    EXPECT_LE(usedByCounted(looks) - last, 600s / 20) << percent;
  }
}

TEST(LookSchedule, LooksThatAlwaysReadSomethingAreFew) {
  const auto looks = looksIn(600s, [](size_t, Duration) { return Look{.used = 100ms, .opened = 1}; });
  EXPECT_GE(looks.size(), 20u);  // every half minute
  EXPECT_LE(looks.size(), 32u);
}

}  // namespace
}  // namespace cacheline::record
