// A table of routes that everybody reads, with an age in each entry that one thread counts up.
//
// A lookup reads prefix and hop, which never change here. The age beside them changes all the time.
#include "corpus.h"

namespace {

constexpr int entries = 4;

// Volatile: read and written each time.
struct Route {  // @definition Route
  volatile unsigned prefix;
  volatile unsigned hop;
  volatile unsigned age;
  volatile unsigned origin;
};

alignas(64) Route routes[entries] = {{1, 10, 0, 1}, {2, 20, 0, 1}, {3, 30, 0, 2}, {4, 40, 0, 2}};

long rounds;
unsigned long found;

void* look_up(void*) {
  unsigned long sum = 0;
  const long turns = 2 * rounds;
  for (long i = 0; i < turns; ++i) {
    const Route& route = routes[i % entries];
    if (route.prefix != 0) sum += route.hop;  // @contended Route.prefix, Route.hop
  }
  found = sum;
  return nullptr;
}

void* grow_old(void*) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    Route& route = routes[i % entries];
    route.age = route.age + 1;  // @contended Route.age
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 150000000);
  const double start = seconds_now();
  run_pair(look_up, grow_old);
  print_run(start, rounds, found + routes[0].age);
}
