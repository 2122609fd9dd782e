// A spin lock beside the data it does not protect.
//
// One thread inserts under the lock; two others look up buckets, for which they need `mask` and `shift` only
// and no lock. Both members are written once, at start-up, but they lie on the lock's line: each time the
// lock is taken or released, the look-ups lose the line, and wait for what they do not use: false sharing,
// though both of them use the same two members.
#include <atomic>
#include <cstdint>

#include "common.h"

namespace directory {

struct alignas(64) Table {
  std::atomic<std::uint32_t> lock{0};
  std::uint32_t inserted = 0;  // only under the lock: it belongs on the lock's line
  std::uint32_t mask = 0x3ff;
  std::uint32_t shift = 5;
};

Table table;  // @variable directory::table

}  // namespace directory

namespace {

using directory::table;

long rounds;

void* insert(void*) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    while (table.lock.exchange(1, std::memory_order_acquire) != 0) {  // @contended directory::table.lock
    }
    ++table.inserted;                                // @contended directory::table.inserted
    table.lock.store(0, std::memory_order_release);  // @contended directory::table.lock
  }
  return nullptr;
}

// Volatile as a stand-in for work that keeps the compiler from loading the members once and for all.
void* lookUp(void* found) {
  const volatile directory::Table& shared = table;
  const long turns = 8 * rounds;
  std::uint32_t bucket = 1;
  for (long i = 0; i < turns; ++i) {
    bucket += (bucket >> shared.shift) & shared.mask;  // @contended directory::table.mask
  }
  *static_cast<std::uint32_t*>(found) = bucket;
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 27000000);
  const double start = seconds_now();
  std::uint32_t found[2] = {};
  const pthread_t locker = start_thread(insert, nullptr);
  const pthread_t first = start_thread(lookUp, &found[0]);
  const pthread_t second = start_thread(lookUp, &found[1]);
  join_thread(locker);
  join_thread(first);
  join_thread(second);
  std::printf("%u inserted, buckets %u and %u\n", table.inserted, found[0], found[1]);
  print_elapsed(start);
  return 0;
}
