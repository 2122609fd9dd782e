// A reference count beside what the readers of the object need.
//
// Readers that hold a reference only read length and checksum, which never change. Whoever takes and drops
// references writes the count on the same line.
#include <atomic>

#include "corpus.h"

namespace {

class Blob {  // @definition Blob
 public:
  void take() { references_.fetch_add(1, std::memory_order_relaxed); }  // @contended Blob.references_
  bool drop() {
    return references_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }                                            // @contended Blob.references_
  long length() const { return length_; }      // @contended Blob.length_
  long checksum() const { return checksum_; }  // @contended Blob.checksum_

 private:
  std::atomic<long> references_{1};
  volatile long length_ = 4096;  // volatile: read each time
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
