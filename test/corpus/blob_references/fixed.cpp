// contended.cpp with the members that only readers use on another line; nothing else differs.
#include <atomic>

#include "corpus.h"

namespace {

class Blob {
 public:
  void take() { references_.fetch_add(1, std::memory_order_relaxed); }
  bool drop() { return references_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  long length() const { return length_; }
  long checksum() const { return checksum_; }

 private:
  std::atomic<long> references_{1};
  alignas(64) volatile long length_ = 4096;  // volatile: read each time
  volatile long checksum_ = 77;
};

alignas(64) Blob blob;

long rounds;
unsigned long sum;

void* pass_on(void*) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    blob.take();
    blob.drop();
  }
  return nullptr;
}

void* verify(void*) {
  unsigned long total = 0;
  const long turns = 24 * rounds;
  for (long i = 0; i < turns; ++i) {
    total += blob.length() ^ blob.checksum();
  }
  sum = total;
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 8000000);
  const double start = seconds_now();
  run_pair(pass_on, verify);
  print_run(start, rounds, sum);
}
