// contended.c with the array at the beginning of a line; nothing else differs.
//
// The elements are as large as before. The header takes a whole line now.
#include <stdatomic.h>

#include "common.h"

enum { THREADS = 2 };

struct slot {
  atomic_long requests;
  long history[6];
  atomic_long bytes;
};

struct pool {
  long capacity;
  long used;
  long opened;
  long flags;
  _Alignas(64) struct slot slots[THREADS];
};

_Alignas(64) static struct pool pool = {.capacity = THREADS, .used = THREADS};  // @variable pool

static long rounds;

static void* serve(void* own) {
  struct slot* slot = own;
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add(&slot->requests, 1);
    atomic_fetch_add(&slot->bytes, i);
  }
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 35000000);
  const double start = seconds_now();
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) threads[i] = start_thread(serve, &pool.slots[i]);
  long requests = 0, bytes = 0;
  for (int i = 0; i < THREADS; ++i) {
    join_thread(threads[i]);
    requests += atomic_load(&pool.slots[i].requests);
    bytes += atomic_load(&pool.slots[i].bytes);
  }
  printf("%ld requests, %ld bytes\n", requests, bytes);
  print_elapsed(start);
  return 0;
}
