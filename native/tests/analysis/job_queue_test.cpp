// Jobs on one thread and on several.
#include "base/job_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

namespace cacheline {
namespace {

using Queue = JobQueue<int>;

TEST(JobQueue, EachJobIsDoneOnceByWhateverThreads) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    std::mutex mutex;
    std::vector<int> done;
    std::set<unsigned> workers;
    Queue queue(threads, Queue::Behind::help, [&](unsigned worker, int& job) {
      const std::lock_guard lock(mutex);
      done.push_back(job);
      workers.insert(worker);
    });
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 500; ++i) queue.put(i);
      queue.finish();
      ASSERT_EQ(done.size(), 500u);
      std::sort(done.begin(), done.end());
      for (int i = 0; i < 500; ++i) ASSERT_EQ(done[static_cast<size_t>(i)], i);
      done.clear();
    }
    EXPECT_LT(*workers.rbegin(), threads);
  }
}

TEST(JobQueue, AsManyWorkAtATimeAsThereAreThreads) {
  constexpr unsigned kThreads = 4;
  std::atomic<unsigned> inside{0};
  Queue queue(kThreads, Queue::Behind::help, [&](unsigned, int&) {
    // Nobody goes on before all are here.
    ++inside;
    while (inside < kThreads) std::this_thread::yield();
  });
  for (unsigned i = 0; i < kThreads; ++i) queue.put(0);
  queue.finish();
  EXPECT_EQ(inside, kThreads);
}

TEST(JobQueue, WithoutHelpJobsAreDoneInOrder) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    std::vector<int> done;
    Queue queue(threads, Queue::Behind::wait, [&](unsigned, int& job) { done.push_back(job); });
    for (int i = 0; i < 500; ++i) queue.put(i);
    queue.finish();
    ASSERT_EQ(done.size(), 500u);
    EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  }
}

TEST(JobQueue, WhatAJobThrowsComesOutOfTheQueue) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    Queue queue(threads, Queue::Behind::help, [](unsigned, int& job) {
      if (job == 70) throw std::runtime_error("seventy");
    });
    EXPECT_THROW(
        {
          for (int i = 0; i < 200; ++i) queue.put(i);
          queue.finish();
        },
        std::runtime_error);
  }
}

TEST(JobQueue, NoJobGoesOnOnceAFailureComesOut) {
  constexpr unsigned kThreads = 4;
  std::atomic<unsigned> begun{0}, ended{0};
  Queue queue(kThreads, Queue::Behind::help, [&](unsigned worker, int&) {
    // All are at work when the first thread fails.
    ++begun;
    while (begun < kThreads) std::this_thread::yield();
    if (worker == 0) throw std::runtime_error("first");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++ended;
  });
  for (unsigned i = 0; i < kThreads; ++i) queue.put(0);
  EXPECT_THROW(queue.finish(), std::runtime_error);
  EXPECT_EQ(ended, kThreads - 1);
  EXPECT_THROW(queue.put(0), std::runtime_error);
}

}  // namespace
}  // namespace cacheline
