// Two processes that hammer one variable at one virtual address, and do not contend at all.
//
// After fork() each process has its own copy of `counter`: same address, same symbol, different memory. A
// tool that knows lines by virtual address alone reports contention here. There is none.
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

_Alignas(64) static atomic_long counter;  // @variable counter

static void count(long rounds) {
  for (long i = 0; i < rounds; ++i) {
    atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
  }
}

int main(int argc, char** argv) {
  const long rounds = rounds_from(argc, argv, 150000000);
  const double start = seconds_now();
  const pid_t child = fork();
  if (child < 0) {
    perror("fork");
    return 1;
  }
  count(rounds);
  if (child == 0) _exit(0);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) {
    fprintf(stderr, "the child failed\n");
    return 1;
  }
  printf("%ld counted here\n", atomic_load(&counter));
  print_elapsed(start);
  return 0;
}
