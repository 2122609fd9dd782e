// contended.cpp with a line for the words of each side; nothing else differs.
#include <array>
#include <atomic>

#include "corpus.h"

namespace {

template <typename T, std::size_t Slots>
class Channel {
 public:
  bool put(T value) {
    const std::size_t at = written_.load(std::memory_order_relaxed);
    if (at - taken_seen_ == Slots) {
      taken_seen_ = taken_.load(std::memory_order_acquire);
      if (at - taken_seen_ == Slots) return false;
    }
    slots_[at % Slots] = value;
    written_.store(at + 1, std::memory_order_release);
    return true;
  }

  bool take(T& value) {
    const std::size_t at = taken_.load(std::memory_order_relaxed);
    if (at == written_seen_) {
      written_seen_ = written_.load(std::memory_order_acquire);
      if (at == written_seen_) return false;
    }
    value = slots_[at % Slots];
    taken_.store(at + 1, std::memory_order_release);
    return true;
  }

 private:
  alignas(64) std::atomic<std::size_t> written_{0};
  std::size_t taken_seen_ = 0;  // the producer's
  alignas(64) std::atomic<std::size_t> taken_{0};
  std::size_t written_seen_ = 0;  // the consumer's
  alignas(64) std::array<T, Slots> slots_{};
};

alignas(64) Channel<long, 8192> channel;

long rounds;
unsigned long taken;

// Something else, until there is more than one slot to fill or to take.
void work_elsewhere() {
  work_privately(500);
  sched_yield();
}

void* produce(void*) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    while (!channel.put(i)) work_elsewhere();
  }
  return nullptr;
}

void* consume(void*) {
  unsigned long sum = 0;
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    long value = 0;
    while (!channel.take(value)) work_elsewhere();
    sum += value;
  }
  taken = sum;
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 80000000);
  keep_whole(&channel);
  const double start = seconds_now();
  run_pair(produce, consume);
  print_run(start, rounds, taken);
}
