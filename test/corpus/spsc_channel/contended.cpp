// A channel of one producer and one consumer, each with its own index and its last look at the other's.
//
// The two looks spare most reads of the other side's index. But all four words lie on one line, so each step
// of one side makes the other wait at words that it alone writes.
#include <array>
#include <atomic>

#include "corpus.h"

namespace {

template <typename T, std::size_t Slots>
class Channel {  // @definition Channel
 public:
  bool put(T value) {
    const std::size_t at = written_.load(std::memory_order_relaxed);  // @contended Channel.written_
    if (at - taken_seen_ == Slots) {                                  // @contended Channel.taken_seen_
      taken_seen_ = taken_.load(std::memory_order_acquire);
      if (at - taken_seen_ == Slots) return false;
    }
    slots_[at % Slots] = value;
    written_.store(at + 1, std::memory_order_release);  // @contended Channel.written_
    return true;
  }

  bool take(T& value) {
    const std::size_t at = taken_.load(std::memory_order_relaxed);  // @contended Channel.taken_
    if (at == written_seen_) {                                      // @contended Channel.written_seen_
      written_seen_ = written_.load(std::memory_order_acquire);
      if (at == written_seen_) return false;
    }
    value = slots_[at % Slots];
    taken_.store(at + 1, std::memory_order_release);  // @contended Channel.taken_
    return true;
  }

 private:
  std::atomic<std::size_t> written_{0};
  std::size_t taken_seen_ = 0;  // the producer's
  std::atomic<std::size_t> taken_{0};
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
