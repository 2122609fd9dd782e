// A quote of six words that one thread replaces as a whole, and another one reads as a whole (a sequence
// lock).
//
// All words come and go together: one line for them is best. With a line each, the reader waits six times.
#include <atomic>

#include "corpus.h"

namespace {

struct Quote {
  std::atomic<long> sequence{0};  // odd while the others change
  std::atomic<long> bid{0};
  std::atomic<long> ask{0};
  std::atomic<long> bid_size{0};
  std::atomic<long> ask_size{0};
  std::atomic<long> time{0};
};

alignas(64) Quote quote;

long rounds;
unsigned long torn;

void* publish(void*) {
  const long turns = rounds;
  for (long i = 1; i <= turns; ++i) {
    quote.sequence.store(2 * i - 1, std::memory_order_relaxed);  // @contended Quote.sequence
    std::atomic_thread_fence(std::memory_order_release);
    quote.bid.store(i, std::memory_order_relaxed);           // @contended Quote.bid
    quote.ask.store(i + 1, std::memory_order_relaxed);       // @contended Quote.ask
    quote.bid_size.store(i, std::memory_order_relaxed);      // @contended Quote.bid_size
    quote.ask_size.store(i + 1, std::memory_order_relaxed);  // @contended Quote.ask_size
    quote.time.store(i, std::memory_order_relaxed);          // @contended Quote.time
    quote.sequence.store(2 * i, std::memory_order_release);  // @contended Quote.sequence
    work_privately(30);
  }
  return nullptr;
}

void* follow(void*) {
  unsigned long wrong = 0;
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    const long before = quote.sequence.load(std::memory_order_acquire);    // @contended Quote.sequence
    const long bid = quote.bid.load(std::memory_order_relaxed);            // @contended Quote.bid
    const long ask = quote.ask.load(std::memory_order_relaxed);            // @contended Quote.ask
    const long bid_size = quote.bid_size.load(std::memory_order_relaxed);  // @contended Quote.bid_size
    const long ask_size = quote.ask_size.load(std::memory_order_relaxed);  // @contended Quote.ask_size
    const long time = quote.time.load(std::memory_order_relaxed);          // @contended Quote.time
    std::atomic_thread_fence(std::memory_order_acquire);
    const bool whole = before % 2 == 0 &&
                       quote.sequence.load(std::memory_order_relaxed) == before;  // @contended Quote.sequence
    if (whole && before > 0 && !(bid == time && ask == ask_size && bid_size == bid && ask == bid + 1))
      wrong++;
    work_privately(30);
  }
  torn = wrong;
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 10000000);
  keep_whole(&quote);
  const double start = seconds_now();
  run_pair(publish, follow);
  print_run(start, rounds, torn);
}
