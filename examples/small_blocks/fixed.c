// contended.c with blocks that begin on a line of their own and fill it; nothing else differs.
//
// aligned_alloc wants a size that is a multiple of the alignment: 64 bytes instead of 24.
#include <stdatomic.h>

#include "common.h"

struct session {
  atomic_long requests;
  long user;
  long opened;
};

static long rounds;

static struct session* open_session(long user) {
  struct session* session = aligned_alloc(64, 64);
  if (session == NULL) {
    perror("aligned_alloc");
    exit(1);
  }
  *session = (struct session){.user = user, .opened = 1};
  return session;
}

static void* serve(void* own) {
  struct session* session = own;
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add(&session->requests, 1);
  }
  return NULL;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 100000000);
  struct session* pair[] = {open_session(0), open_session(1)};
  const double start = seconds_now();
  const pthread_t first = start_thread(serve, pair[0]);
  const pthread_t second = start_thread(serve, pair[1]);
  join_thread(first);
  join_thread(second);
  printf("%ld and %ld requests\n", atomic_load(&pair[0]->requests), atomic_load(&pair[1]->requests));
  print_elapsed(start);
  for (int i = 0; i < 2; ++i) free(pair[i]);
  return 0;
}
