// One loop on 1, 2 and 5 threads.
#include "base/parallel_for.h"

#include <gtest/gtest.h>

#include <barrier>
#include <stdexcept>
#include <vector>

namespace cacheline {
namespace {

TEST(ParallelFor, DoesEachIndexOnceWhateverTheNumberOfThreads) {
  for (const size_t threads : {0u, 1u, 2u, 5u})
    for (const size_t count : {0u, 1u, 3u, 1000u}) {
      std::vector<int> done(count);
      parallelFor(count, threads, [&](size_t index) { ++done[index]; });
      EXPECT_EQ(done, std::vector<int>(count, 1)) << threads << " threads, " << count << " indexes";
    }
}

TEST(ParallelFor, TakesAsManyThreadsAsAreAsked) {
  constexpr size_t kThreads = 5;
  std::barrier all(kThreads);  // with fewer threads nobody gets past it
  parallelFor(kThreads, kThreads, [&](size_t) { all.arrive_and_wait(); });
}

TEST(ParallelFor, ThrowsWhatWasThrownAndBeginsNoMore) {
  for (const size_t threads : {1u, 2u, 5u}) {
    std::atomic<size_t> begun = 0;
    const auto fail = [&](size_t) {
      ++begun;
      throw std::runtime_error("broken");
    };
    EXPECT_THROW(parallelFor(1000, threads, fail), std::runtime_error);
    EXPECT_LE(begun, threads);
  }
}

}  // namespace
}  // namespace cacheline
