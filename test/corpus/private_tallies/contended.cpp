// Counters that are thread-local: nothing is shared until each thread adds its own to the sum, at its end.
#include <atomic>

#include "corpus.h"

namespace {

struct Tally {
  volatile long hits = 0;
  volatile long misses = 0;
};

thread_local Tally tally;

std::atomic<unsigned long> sum{0};
long rounds;

void* count(void*) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    if (i % 4 == 0) {
      tally.misses = tally.misses + 1;
    } else {
      tally.hits = tally.hits + 1;
    }
  }
  sum += tally.hits + 2 * tally.misses;
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 300000000);
  const int threads = threads_from(argc, argv, 8);
  const double start = seconds_now();
  run_threads(threads, count);
  print_run(start, rounds, sum);
}
