// Two small heap blocks, one for each thread, that malloc put side by side.
//
// No type and no array says that they are neighbours: two blocks of 24 bytes that were allocated one after
// the other lie 32 bytes apart, so two of them share a line.
#include <stdatomic.h>
#include <stdint.h>

#include "common.h"

struct session {
  atomic_long requests;
  long user;
  long opened;
};

static long rounds;

static struct session* open_session(long user) {
  struct session* session = malloc(sizeof *session);
  if (session == NULL) {
    perror("malloc");
    exit(1);
  }
  *session = (struct session){.user = user, .opened = 1};
  return session;
}

static void* serve(void* own) {
  struct session* session = own;
  const long turns = rounds;
  for (long i = 0; i < turns; ++i) {
    atomic_fetch_add(&session->requests, 1);  // @contended session.requests
  }
  return NULL;
}

static int one_line(const struct session* first, const struct session* second) {
  return (uintptr_t)first / 64 == (uintptr_t)second / 64;
}

int main(int argc, char** argv) {
  rounds = rounds_from(argc, argv, 100000000);
  // Of two in a row the second may begin a new line; of three, one pair shares a line.
  struct session* sessions[3];
  for (int i = 0; i < 3; ++i) sessions[i] = open_session(i);
  struct session** pair = one_line(sessions[0], sessions[1]) ? &sessions[0] : &sessions[1];
  if (!one_line(pair[0], pair[1])) {
    fprintf(stderr, "this malloc put no two of the blocks on one line: there is nothing to find\n");
    return 1;
  }
  const double start = seconds_now();
  const pthread_t first = start_thread(serve, pair[0]);
  const pthread_t second = start_thread(serve, pair[1]);
  join_thread(first);
  join_thread(second);
  printf("%ld and %ld requests\n", atomic_load(&pair[0]->requests), atomic_load(&pair[1]->requests));
  print_elapsed(start);
  for (int i = 0; i < 3; ++i) free(sessions[i]);
  return 0;
}
