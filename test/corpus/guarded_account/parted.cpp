// contended.cpp with the lock on a line of its own. It gains nothing: who takes the lock then waits for the
// other line, too.
#include <atomic>

#include "corpus.h"

namespace {

class Account {
 public:
  void pay_in(long cents) {
    long tries = 0;
    while (lock_.exchange(1, std::memory_order_acquire) != 0) back_off(&tries);
    balance_ = balance_ + cents;
    count_ = count_ + 1;
    lock_.store(0, std::memory_order_release);
  }
  unsigned long total() const { return balance_ + count_; }

 private:
  std::atomic<int> lock_{0};
  alignas(64) volatile long balance_ = 0;  // these two only under the lock
  volatile long count_ = 0;
};

alignas(64) Account account;

long rounds;

void* pay(void* number) {
  const long own = reinterpret_cast<intptr_t>(number);
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    account.pay_in(own + 1);
    work_privately(100);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 3500000);
  const int threads = threads_from(argc, argv, 8);
  const double start = seconds_now();
  run_threads(threads, pay);
  print_run(start, rounds, account.total());
}
