// contended.cpp with a line for each shard; nothing else differs.
#include <array>
#include <atomic>

#include "corpus.h"

namespace {

constexpr int shards = 8;

class alignas(64) Shard {
 public:
  void add(long key) {
    while (lock_.exchange(1, std::memory_order_acquire) != 0) sched_yield();
    size_ = size_ + 1;
    sum_ = sum_ + key;
    lock_.store(0, std::memory_order_release);
  }
  unsigned long total() const { return size_ + sum_; }

 private:
  std::atomic<int> lock_{0};
  volatile int size_ = 0;
  volatile long sum_ = 0;
};

alignas(64) std::array<Shard, shards> all;

long rounds;
int threads;

void* insert(void* number) {
  const long own = reinterpret_cast<intptr_t>(number);
  const long turns = rounds;
  const long each = shards / threads;
  for (long i = 0; i < turns; ++i) {
    all[own + i % each * threads].add(i);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 8000000);
  threads = threads_from(argc, argv, shards);
  const double start = seconds_now();
  run_threads(threads, insert);
  unsigned long sum = 0;
  for (const Shard& shard : all) sum += shard.total();
  print_run(start, rounds, sum);
}
