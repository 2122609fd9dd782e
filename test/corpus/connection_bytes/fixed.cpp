// contended.cpp with a line for each connection; nothing else differs.
#include <atomic>
#include <vector>

#include "corpus.h"

namespace {

constexpr int most_threads = 8;
constexpr int each = 4;  // connections of a thread

struct alignas(64) Connection {
  std::atomic<long> bytes{0};
};

std::vector<Connection> connections(each* most_threads);

long rounds;
int threads;

void* transfer(void* number) {
  const long own = reinterpret_cast<intptr_t>(number);
  const long turns = rounds;
  Connection* const first = connections.data();
  for (long i = 0; i < turns; ++i) {
    Connection& connection = first[own + i % each * threads];
    connection.bytes.fetch_add(1 + i % 3, std::memory_order_relaxed);
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 12000000);
  threads = threads_from(argc, argv, most_threads);
  const double start = seconds_now();
  run_threads(threads, transfer);
  long sum = 0;
  for (const Connection& connection : connections) sum += connection.bytes;
  print_run(start, rounds, sum);
}
