// contended.cpp with a line for each frame; nothing else differs.
#include <atomic>

#include "corpus.h"

namespace {

constexpr int steps = 1000;  // passes over a frame, for each that is handed over
constexpr int values = 4;

struct alignas(64) Frame {
  volatile long value[values];
};

class TripleBuffer {
 public:
  // Hands a finished frame over for the one between the threads. Returns what to use next.
  int exchange(int finished) { return between_.exchange(finished, std::memory_order_acq_rel); }
  Frame& frame(int number) { return frames_[number]; }

 private:
  std::atomic<int> between_{2};
  alignas(64) Frame frames_[3]{};
};

alignas(64) TripleBuffer buffer;

long rounds;
unsigned long finished;

void* write(void*) {
  int own = 0;
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    Frame& frame = buffer.frame(own);
    for (int step = 0; step < steps; ++step) {
      for (int at = 0; at < values; ++at) {
        frame.value[at] = frame.value[at] + step;
      }
    }
    own = buffer.exchange(own);
  }
  finished += rounds;
  return nullptr;
}

void* read(void*) {
  int own = 1;
  long sum = 0;
  const long turns = 3 * rounds;
  for (long i = 0; i < turns; ++i) {
    Frame& frame = buffer.frame(own);
    for (int step = 0; step < steps; ++step) {
      for (int at = 0; at < values; ++at) {
        sum += frame.value[at];
      }
    }
    own = buffer.exchange(own);
  }
  return reinterpret_cast<void*>(sum);
}

}  // namespace

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 80000);
  const double start = seconds_now();
  run_pair(write, read);
  print_run(start, rounds, finished);
}
