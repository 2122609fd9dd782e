// An index in shards, so that threads with different keys need not wait for one lock.
//
// The keys of each thread are in its own shards. Four shards, each with lock, size and sum, lie on one line.
#include <array>
#include <atomic>

#include "corpus.h"

namespace {

constexpr int shards = 8;

class Shard {  // @definition Shard
 public:
  void add(long key) {
    while (lock_.exchange(1, std::memory_order_acquire) != 0) sched_yield();  // @contended Shard.lock_
    size_ = size_ + 1;                                                        // @contended Shard.size_
    sum_ = sum_ + key;                                                        // @contended Shard.sum_
    lock_.store(0, std::memory_order_release);                                // @contended Shard.lock_
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
