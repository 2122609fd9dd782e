// Two lock words that two threads take, and beside them two words that two other threads only read.
//
// The locks are shared in truth: each thread wants both, and no layout helps it. The readers wait for nothing
// of theirs: nobody writes `fee` or `limit`, yet each locked operation beside them takes their line away.
// However few of the line's samples are theirs, a line of their own is what helps them.
#include <stdatomic.h>

#include "common.h"

struct market {
  atomic_long buy_lock;
  atomic_long sell_lock;
  long reserved;
  long pad;
  atomic_long fee;
  atomic_long limit;
  long lot;
  long tick;
};

_Alignas(64) static struct market market = {.fee = 3, .limit = 500};  // @variable market

static long rounds;

// Tries a lock and goes on where it is taken, so that nobody spins for a thread that lost its processor.
static void* trade(void* taken) {
  const long turns = rounds;
  long count = 0;
  for (long i = 0; i < turns; ++i) {
    if (atomic_exchange(&market.buy_lock, 1) == 0) {  // @contended market.buy_lock
      ++count;
      atomic_store_explicit(&market.buy_lock, 0, memory_order_release);  // @contended market.buy_lock
    }
    long unlocked = 0;
    if (atomic_compare_exchange_strong(&market.sell_lock, &unlocked, 1)) {  // @contended market.sell_lock
      ++count;
      atomic_store_explicit(&market.sell_lock, 0, memory_order_release);  // @contended market.sell_lock
    }
  }
  *(long*)taken = count;
  return NULL;
}

static void* sum_fees(void* total) {
  const long turns = 18 * rounds;
  long sum = 0;
  for (long i = 0; i < turns; ++i) {
    sum += atomic_load(&market.fee);  // @contended market.fee
  }
  *(long*)total = sum;
  return NULL;
}

static void* sum_limits(void* total) {
  const long turns = 18 * rounds;
  long sum = 0;
  for (long i = 0; i < turns; ++i) {
    sum += atomic_load(&market.limit);  // @contended market.limit
  }
  *(long*)total = sum;
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 20000000);
  const double start = seconds_now();
  long taken[2] = {0}, fees = 0, limits = 0;
  const pthread_t threads[] = {start_thread(trade, &taken[0]), start_thread(sum_fees, &fees),
                               start_thread(trade, &taken[1]), start_thread(sum_limits, &limits)};
  for (int i = 0; i < 4; ++i) join_thread(threads[i]);
  printf("%ld locks taken, fees %ld, limits %ld\n", taken[0] + taken[1], fees, limits);
  print_elapsed(start);
  return 0;
}
