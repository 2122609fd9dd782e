// contended.cpp with a line for each shard. It takes longer: the sum has to fetch 64 lines and not eight.
#include <array>
#include <atomic>

#include "corpus.h"

namespace {

constexpr int shards = 64;

struct alignas(64) Shard {
  std::atomic<long> count{0};
};

alignas(64) std::array<Shard, shards> all;

long rounds;

void* count(void*) {
  Shard* const first = all.data();
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    for (int at = 0; at < shards; ++at) {
      first[at].count.fetch_add(1, std::memory_order_relaxed);
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
      sum += first[at].count.load(std::memory_order_relaxed);
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
