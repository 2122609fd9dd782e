/* What is recorded of a block, and when it is too much. */
#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "heap/agent/agent.h"

/* Blocks between two looks at the clock while the rate is exceeded: so many, where they come fast, that some
   hundred may be recorded after them. The first few find nothing of the agent in the caches and cost several
   times as much. */
#define FEWEST_SKIPPED 1023
#define MOST_SKIPPED (1u << 14)
#define FEWEST_RECORDED 256

static int64_t ns_of(struct timeval time) {
  return (int64_t)time.tv_sec * 1000000000 + (int64_t)time.tv_usec * 1000;
}

/* The thread's CPU time, not the time of day: what recording may cost is a share of what the thread works. As
   of the last tick: CLOCK_THREAD_CPUTIME_ID has the scheduler bring its accounts up to date, which then finds
   that the thread's turn is over, up to three times as often as by itself where threads share a CPU. */
static int64_t cpu_ns(void) {
  const int saved = errno;
  struct rusage used;
  if (getrusage(RUSAGE_THREAD, &used) != 0) {
    errno = saved;  // a filter of system calls refused it
    return 0;
  }
  return ns_of(used.ru_utime) + ns_of(used.ru_stime);
}

/* Uniformly from 0 to twice the mean, which leaves one in `sampling`: no program allocates in step with it.
 */
static uint32_t random_gap(void) {
  thread.random = thread.random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((thread.random >> 32) * (2 * (uint64_t)process.sampling - 1) >> 32);
}

int record_chooses(void) {
  if (UNLIKELY(thread.random == 0)) {
    thread.random = ticks_now() ^ (uint64_t)&thread;
    const uint32_t before = random_gap();
    if (before != 0) {
      thread.pass[0] = (int32_t)before - 1;
      return 0;
    }
  }
  thread.pass[0] = (int32_t)random_gap();
  return 1;
}

/* The next blocks are passed over, and counted now: while that lasts a block costs no more than the question
   whether it does. */
static void skip(int large) {
  const uint32_t per_lost = large ? 1 : process.sampling, most = INT32_MAX / per_lost;
  uint32_t skipped = thread.skipped[large];
  if (skipped < FEWEST_SKIPPED) skipped = FEWEST_SKIPPED;
  thread.skipped[large] = skipped;
  if (skipped > most) skipped = most;
  thread.per_lost[large] = per_lost;
  thread.pass[large] = (int32_t)(skipped * per_lost);
  thread.chunk->lost_rate += skipped;
}

static void adapt_skip(int large, int64_t tokens) {
  uint32_t* skipped = &thread.skipped[large];
  if (tokens < FEWEST_RECORDED && *skipped < MOST_SKIPPED)
    *skipped *= 2;
  else if (tokens > 4 * FEWEST_RECORDED)
    *skipped /= 2;
}

/* Tokens for the CPU time since the last time, where there are any. */
static int refill(int large) {
  const struct heap_file_header* file = process.file;
  const int64_t now = cpu_ns(), burst = (int64_t)file->burst;
  /* Small blocks have tokens of their own, so that they never displace those that are to be recorded without
   * loss. */
  const int64_t rate = (int64_t)file->rate / (large ? 1 : 4);
  int64_t tokens = large ? burst : burst / 4;
  if (thread.refilled[large] != 0) {
    const int64_t elapsed = now - thread.refilled[large];
    if (elapsed < 1000000000 && elapsed * rate / 1000000000 < tokens) tokens = elapsed * rate / 1000000000;
  }
  thread.refilled[large] = now > 0 ? now : 1;
  thread.tokens[large] = tokens;
  if (tokens > 0)
    adapt_skip(large, tokens);
  else if (thread.chunk != NULL && thread.generation == process.generation)
    skip(large);
  return tokens > 0;
}

static inline int may_record(int large) {
  if (UNLIKELY(thread.tokens[large] <= 0) && !refill(large)) return 0;
  thread.tokens[large]--;
  return 1;
}

static int is_full(void) {
  return __atomic_load_n(&process.file->next_page, __ATOMIC_RELAXED) >= process.file->limit_pages;
}

static void lost_without_chunk(void) {
  __atomic_fetch_add(&process.file->lost, 1, __ATOMIC_RELAXED);
}

static void put_block(const void* frame, const void* block, size_t size) {
  live_prefetch(block);
  const uint64_t hash = stack_hash(frame);
  uint64_t* record = is_full() ? NULL : stream_reserve(4);
  if (record == NULL) return lost_without_chunk();
  struct heap_chunk_header* chunk = thread.chunk;
  chunk->lost_nested += thread.nested;
  thread.nested = 0;
  if (!live_insert(block)) {
    thread.cursor -= 4;
    chunk->lost_table++;
    return;
  }
  record[1] = ticks_now();
  record[2] = size;
  record[3] = hash;
  stream_commit(record, HEAP_ALLOCATE, 4, (uint64_t)block);
  chunk->blocks++;
}

void record_allocate(const void* frame, const void* block, size_t size) {
  const int large = size >= process.always_from;
  thread.per_lost[large] = 0;
  if (UNLIKELY(thread.busy)) {
    thread.nested++;
    return;
  }
  thread.busy = 1;
  if (process_current()) {
    if (LIKELY(may_record(large)))
      put_block(frame, block, size);
    else if (thread.chunk != NULL && thread.generation == process.generation)
      thread.chunk->lost_rate++;
    else
      lost_without_chunk();
    stream_settle();
  }
  thread.busy = 0;
}

static void put_end(enum heap_kind kind, uint32_t words, const void* address, size_t size) {
  if (thread.busy) return;
  thread.busy = 1;
  if (process_current()) {
    uint64_t* record = stream_reserve(words);
    if (record != NULL) {
      record[1] = ticks_now();
      if (words > 2) record[2] = size;
      stream_commit(record, kind, words, (uint64_t)address);
    }
    stream_settle();
  }
  thread.busy = 0;
}

int record_free(const void* block) {
  if (!live_remove(block)) return 0;
  put_end(HEAP_FREE, 2, block, 0);
  return 1;
}

void record_map(const void* frame, const void* address, size_t size) {
  if (thread.busy) return;
  thread.busy = 1;
  if (process_current()) {
    const uint64_t hash = stack_hash(frame);
    uint64_t* record = is_full() ? NULL : stream_reserve(4);
    if (record != NULL) {
      record[1] = ticks_now();
      record[2] = size;
      record[3] = hash;
      stream_commit(record, HEAP_MAP, 4, (uint64_t)address);
    }
    stream_settle();
  }
  thread.busy = 0;
}

void record_unmap(const void* address, size_t size) {
  put_end(HEAP_UNMAP, 3, address, size);
}
