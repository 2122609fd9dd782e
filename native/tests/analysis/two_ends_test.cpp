// Two threads at one list.
#include "base/two_ends.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

namespace cacheline {
namespace {

constexpr size_t kMany = 96, kPart = 8;  // items, and those that a thread takes at a time

TEST(TwoEnds, WhoHelpsTakesWhatIsLeftFromTheEnd) {
  TwoEnds ends;
  std::promise<void> begun, helped;
  std::vector<size_t> first, second;
  std::thread helper([&] {
    begun.get_future().wait();
    ends.help([&](size_t i) { second.push_back(i); });
    helped.set_value();
  });
  ends.work(kMany, [&](size_t i) {
    if (i == 0) {
      begun.set_value();
      helped.get_future().wait();
    }
    first.push_back(i);
  });
  helper.join();
  ASSERT_EQ(first.size(), kPart);
  ASSERT_EQ(second.size(), kMany - kPart);
  EXPECT_EQ(second.front(), kMany - kPart);
  EXPECT_EQ(second.back(), 2 * kPart - 1);
  std::vector<bool> done(kMany);
  for (const auto* list : {&first, &second})
    for (const size_t i : *list) {
      EXPECT_FALSE(done[i]) << i << " was done twice";
      done[i] = true;
    }
}

TEST(TwoEnds, ThereIsNothingToHelpWithBeforeAndAfter) {
  TwoEnds ends;
  size_t calls = 0;
  ends.help([&](size_t) { ++calls; });
  EXPECT_EQ(calls, 0u);
  ends.work(kMany, [&](size_t) { ++calls; });
  ends.help([&](size_t) { ++calls; });
  EXPECT_EQ(calls, kMany);
}

TEST(TwoEnds, WorkThatFailsWaitsForTheHelper) {
  TwoEnds ends;
  std::promise<void> begun, helping;
  std::atomic<bool> failing = false, helped = false;
  std::thread helper([&] {
    begun.get_future().wait();
    ends.help([&](size_t) {
      if (helped) return;
      helping.set_value();
      while (!failing) std::this_thread::yield();
      helped = true;
    });
  });
  const auto fail = [&](size_t) {
    begun.set_value();
    helping.get_future().wait();
    failing = true;
    throw std::runtime_error("enough");
  };
  EXPECT_THROW(ends.work(kMany, fail), std::runtime_error);
  EXPECT_TRUE(helped);
  helper.join();
}

TEST(TwoEnds, HelpThatFailsKeepsNobodyWaiting) {
  TwoEnds ends;
  std::promise<void> begun, failed;
  std::thread helper([&] {
    begun.get_future().wait();
    EXPECT_THROW(ends.help([](size_t) { throw std::runtime_error("enough"); }), std::runtime_error);
    failed.set_value();
  });
  size_t calls = 0;
  ends.work(kMany, [&](size_t i) {
    if (i == 0) {
      begun.set_value();
      failed.get_future().wait();
    }
    ++calls;
  });
  helper.join();
  EXPECT_EQ(calls, kMany - kPart);
}

}  // namespace
}  // namespace cacheline
