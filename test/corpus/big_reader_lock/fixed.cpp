// contended.cpp with a line for each reader's word; nothing else differs.
#include <atomic>

#include "corpus.h"

namespace {

constexpr int most_readers = 8;

struct alignas(64) Presence {
  std::atomic<int> inside{0};
};

class BigReaderLock {
 public:
  void enter(int reader) {
    readers_[reader].inside.exchange(1, std::memory_order_acquire);
    while (writing_.load(std::memory_order_acquire)) sched_yield();
  }
  void leave(int reader) { readers_[reader].inside.store(0, std::memory_order_release); }

 private:
  std::atomic<bool> writing_{false};
  alignas(64) Presence readers_[most_readers];
};

alignas(64) BigReaderLock lock;

long rounds;

void* read(void* number) {
  const int own = static_cast<int>(reinterpret_cast<intptr_t>(number));
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    lock.enter(own);
    lock.leave(own);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 8000000);
  const int threads = threads_from(argc, argv, most_readers);
  const double start = seconds_now();
  run_threads(threads, read);
  print_run(start, rounds, rounds * threads);
}
