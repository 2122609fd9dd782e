// contended.cpp with the age on another line than what lookups read; nothing else differs.
#include "corpus.h"

namespace {

constexpr int entries = 4;

// Volatile: read and written each time.
struct Route {
  volatile unsigned prefix;
  volatile unsigned hop;
  volatile unsigned origin;
  alignas(64) volatile unsigned age;
};

alignas(64) Route routes[entries] = {{1, 10, 1, 0}, {2, 20, 1, 0}, {3, 30, 2, 0}, {4, 40, 2, 0}};

long rounds;
unsigned long found;

void* look_up(void*) {
  unsigned long sum = 0;
  const long turns = 2 * rounds;
  for (long i = 0; i < turns; ++i) {
    const Route& route = routes[i % entries];
    if (route.prefix != 0) sum += route.hop;
  }
  found = sum;
  return nullptr;
}

void* grow_old(void*) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    Route& route = routes[i % entries];
    route.age = route.age + 1;
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
