// contended.c with a line for each buffer; nothing else differs.
#include "corpus.h"

enum { BYTES = 32 };

struct link {
  volatile unsigned char incoming[BYTES];
  _Alignas(64) volatile unsigned char outgoing[BYTES];
};

_Alignas(64) static struct link link_state;

static long rounds;

static void* receive(void* unused) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    link_state.incoming[i % BYTES] += 3;
  }
  return unused;
}

static void* send_bytes(void* unused) {
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    link_state.outgoing[i % BYTES] += 5;
  }
  return unused;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 200000000);
  const double start = seconds_now();
  run_pair(receive, send_bytes);
  unsigned long sum = 0;
  for (int i = 0; i < BYTES; ++i) sum += link_state.incoming[i] + 256ul * link_state.outgoing[i];
  print_run(start, rounds, sum);
  return 0;
}
