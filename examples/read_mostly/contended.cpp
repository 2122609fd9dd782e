// A configuration object that everybody reads, and one statistics member that somebody writes.
//
// The accessors are one-liners that the compiler inlines, and std::atomic's own functions with them: the hot
// instructions lie in the two loops, and only the debug information knows that they are Config::limit and
// Config::hit.
#include <atomic>

#include "common.h"

namespace service {

class alignas(64) Config {
 public:
  long limit() const { return limit_.load(std::memory_order_relaxed); }  // @contended service::config.limit_
  long retry() const { return retry_.load(std::memory_order_relaxed); }  // @contended service::config.retry_
  void hit() { hits_.fetch_add(1, std::memory_order_relaxed); }          // @contended service::config.hits_
  long hits() const { return hits_.load(std::memory_order_relaxed); }

 private:
  std::atomic<long> limit_{100};
  std::atomic<long> retry_{30};
  std::atomic<long> hits_{0};
};

Config config;  // @variable service::config

}  // namespace service

namespace {

long rounds;
long budget;

void* countHits(void*) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) service::config.hit();
  return nullptr;
}

void* readSettings(void*) {
  const long turns = 8 * rounds;
  long sum = 0;
  for (long i = 0; i < turns; ++i) sum += service::config.limit() * service::config.retry();
  budget = sum;
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 50000000);
  const double start = seconds_now();
  const pthread_t writer = start_thread(countHits, nullptr);
  const pthread_t reader = start_thread(readSettings, nullptr);
  join_thread(writer);
  join_thread(reader);
  std::printf("%ld hits, budget %ld\n", service::config.hits(), budget);
  print_elapsed(start);
  return 0;
}
