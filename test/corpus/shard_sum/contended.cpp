// A counter in 64 shards that one thread writes in turns and another one sums all the time.
//
// Each shard is written by one and read by the other: true sharing. Eight shards a line are good for the sum:
// with a line each, it would wait for 64 lines and not for eight.
#include <array>
#include <atomic>

#include "corpus.h"

namespace {

constexpr int shards = 64;

struct Shard {
  std::atomic<long> count{0};
};

alignas(64) std::array<Shard, shards> all;

long rounds;

void* count(void*) {
  Shard* const first = all.data();
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    for (int at = 0; at < shards; ++at) {
      first[at].count.fetch_add(1, std::memory_order_relaxed);  // @contended Shard.count
    }
  }
  return nullptr;
}

void* sum_up(void*) {
  const Shard* const first = all.data();
  long sum = 0;
  const long turns = 2 * rounds;
  for (long i = 0; i < turns; ++i) {
    for (int at = 0; at < shards; ++at) {
      sum += first[at].count.load(std::memory_order_relaxed);  // @contended Shard.count
    }
  }
  return reinterpret_cast<void*>(sum);
}

}  // namespace

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 600000);
  const double start = seconds_now();
  run_pair(count, sum_up);
  unsigned long sum = 0;
  for (const Shard& shard : all) sum += shard.count;
  print_run(start, rounds, sum);
}
