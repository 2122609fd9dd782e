// A lock for many readers: each reader has a word of its own, and a writer would look at all of them.
//
// Readers were given words of their own so that they need not share a count. All the words lie on one line.
#include <atomic>

#include "corpus.h"

namespace {

constexpr int most_readers = 8;

struct Presence {  // @definition Presence
  std::atomic<int> inside{0};
};

class BigReaderLock {
 public:
  void enter(int reader) {
    readers_[reader].inside.exchange(1, std::memory_order_acquire);  // @contended Presence.inside
    while (writing_.load(std::memory_order_acquire)) sched_yield();
  }
  void leave(int reader) {
    readers_[reader].inside.store(0, std::memory_order_release);  // @contended Presence.inside
  }

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
