// An account with its lock: every thread that takes the lock changes the account.
//
// Who takes the lock needs balance and count next, and on one line they come along with it. Between two
// payments there is other work, so the lock is seldom found taken.
#include <atomic>

#include "corpus.h"

namespace {

class Account {
 public:
  void pay_in(long cents) {
    long tries = 0;
    while (lock_.exchange(1, std::memory_order_acquire) != 0) back_off(&tries);  // @contended Account.lock_
    balance_ = balance_ + cents;                // @contended Account.balance_
    count_ = count_ + 1;                        // @contended Account.count_
    lock_.store(0, std::memory_order_release);  // @contended Account.lock_
  }
  unsigned long total() const { return balance_ + count_; }

 private:
  std::atomic<int> lock_{0};
  volatile long balance_ = 0;  // these two only under the lock
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
