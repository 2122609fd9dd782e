// Two processes, one shared mapping, and a different address for it in each of them.
//
// Lines are contended by where the memory is, not by what a process calls it: parent and child count in words
// of their own, at different virtual addresses, and both words lie on one line of the file they map.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common.h"

struct totals {
  atomic_long parent;
  atomic_long child;
};

static struct totals* map_totals(int file) {
  void* memory = mmap(NULL, sizeof(struct totals), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    perror("mmap");
    exit(1);
  }
  return memory;
}

static void count_in_parent(struct totals* totals, long rounds) {
  for (long i = 0; i < rounds; ++i) {
    atomic_fetch_add_explicit(&totals->parent, 1, memory_order_relaxed);  // @contended totals.parent
  }
}

static void count_in_child(struct totals* totals, long rounds) {
  for (long i = 0; i < rounds; ++i) {
    atomic_fetch_add_explicit(&totals->child, 1, memory_order_relaxed);  // @contended totals.child
  }
}

int main(int argc, char** argv) {
  const long rounds = rounds_from(argc, argv, 45000000);
  const int file = memfd_create("shared_totals", 0);  // @variable shared_totals
  if (file < 0 || ftruncate(file, sizeof(struct totals)) != 0) {
    perror("shared memory");
    return 1;
  }
  const double start = seconds_now();
  const pid_t child = fork();
  if (child < 0) {
    perror("fork");
    return 1;
  }
  if (child == 0) {
    // A page in the way, so that the mapping lies elsewhere than the parent's.
    if (mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) _exit(1);
    struct totals* totals = map_totals(file);
    printf("child maps it at %p\n", (void*)totals);
    fflush(stdout);
    count_in_child(totals, rounds);
    _exit(0);
  }
  struct totals* totals = map_totals(file);
  printf("parent maps it at %p\n", (void*)totals);
  count_in_parent(totals, rounds);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) {
    fprintf(stderr, "the child failed\n");
    return 1;
  }
  printf("%ld in the parent, %ld in the child\n", atomic_load(&totals->parent), atomic_load(&totals->child));
  print_elapsed(start);
  return 0;
}
