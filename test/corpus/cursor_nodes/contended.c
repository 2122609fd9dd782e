// Small heap nodes of two lists, each walked by one thread; they were allocated in turns.
//
// malloc puts blocks of 24 bytes 32 bytes apart. Of the four nodes of a list, some share a line with a node
// of the other list, wherever the first block begins.
#include <stdatomic.h>

#include "corpus.h"

enum { MOST_THREADS = 8, NODES = 4 };

struct cursor {  // @definition cursor
  struct cursor* next;
  atomic_long position;
  long end;
};

static struct cursor* lists[MOST_THREADS];

static long rounds;

static struct cursor* new_cursor(struct cursor* next) {
  struct cursor* cursor = malloc(sizeof *cursor);  // @definition cursor
  if (cursor == NULL) {
    perror("malloc");
    exit(1);
  }
  *cursor = (struct cursor){.next = next, .end = 100};
  return cursor;
}

static void* walk(void* number) {
  struct cursor* const first = lists[(intptr_t)number];
  struct cursor* cursor = first;
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add_explicit(&cursor->position, 1, memory_order_relaxed);  // @contended cursor.position
    cursor = cursor->next != NULL ? cursor->next : first;                   // @contended cursor.next
  }
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 12000000);
  const int threads = threads_from(argc, argv, MOST_THREADS);
  for (int node = 0; node < NODES; ++node) {
    for (int i = 0; i < threads; ++i) lists[i] = new_cursor(lists[i]);
  }
  const double start = seconds_now();
  run_threads(threads, walk);
  long sum = 0;
  for (int i = 0; i < threads; ++i) {
    while (lists[i] != NULL) {
      struct cursor* const cursor = lists[i];
      sum += cursor->position;
      lists[i] = cursor->next;
      free(cursor);
    }
  }
  print_run(start, rounds, sum);
  return 0;
}
