// A histogram in parts: each thread counts in its own, and they are summed at the end.
//
// A part has 12 bins, 48 bytes: the end of one and the start of the next lie on one line.
#include "corpus.h"

namespace {

constexpr int most_threads = 8;
constexpr int bins = 12;

struct Partial {  // @definition Partial
  volatile unsigned count[bins];
};

alignas(64) Partial partials[most_threads];

long rounds;

void* count(void* number) {
  Partial& own = partials[reinterpret_cast<intptr_t>(number)];
  const long turns = rounds;
  unsigned value = 1;
  for (long i = 0; i < turns; ++i) {
    value = value * 1664525 + 1013904223;
    const unsigned bin = value / 65536 % bins;
    own.count[bin] = own.count[bin] + 1;  // @contended Partial.count
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 100000000);
  const int threads = threads_from(argc, argv, most_threads);
  const double start = seconds_now();
  run_threads(threads, count);
  unsigned long sum = 0;
  for (int i = 0; i < threads; ++i) {
    for (int bin = 0; bin < bins; ++bin) sum += static_cast<unsigned long>(partials[i].count[bin]) * bin;
  }
  print_run(start, rounds, sum);
}
