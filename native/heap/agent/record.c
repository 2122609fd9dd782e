/* What is recorded of a block, and when it is too much. */
#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "heap/agent/agent.h"

/* While the rate is exceeded, so many blocks go by before the next look at the clock: ever more, as long as
   there are too few tokens. */
#define FEWEST_PASSED (1u << 10)
#define MOST_PASSED (1u << 14)
/* Recording begins again with so many tokens: the first few blocks find nothing of the agent in the caches
   and cost several times as much as those that follow. */
#define FEWEST_RECORDED 256
/* With fewer tokens small blocks are sampled. */
#define FEWEST_FOR_ALL 1024

static int64_t us_of(struct timeval time) {
  return (int64_t)time.tv_sec * 1000000 + (int64_t)time.tv_usec;
}

/* The thread's CPU time, not the time of day: what recording may cost is a share of what the thread works. As
   of the last tick: CLOCK_THREAD_CPUTIME_ID has the scheduler bring its accounts up to date, which then finds
   that the thread's turn is over, up to three times as often as by itself where threads share a CPU. */
static int64_t cpu_us(void) {
  const int saved = errno;
  struct rusage used;
  if (getrusage(RUSAGE_THREAD, &used) != 0) {
    errno = saved;  // a filter of system calls refused it
    return 0;
  }
  return us_of(used.ru_utime) + us_of(used.ru_stime);
}

/* Uniformly from 0 to twice the mean, which leaves one in `sampling`: no program allocates in step with it.
 */
static uint32_t random_gap(void) {
  if (UNLIKELY(thread.random == 0)) thread.random = ticks_now() ^ (uint64_t)&thread;
  thread.random = thread.random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((thread.random >> 32) * (2 * (uint64_t)process.sampling - 1) >> 32);
}

static void count_lost(uint64_t blocks) {
  if (LIKELY(thread.chunk != NULL && thread.generation == process.generation))
    thread.chunk->lost_rate += blocks;
  else
    __atomic_fetch_add(&process.file->lost, blocks, __ATOMIC_RELAXED);
}

/* The next blocks go by: while that lasts one costs no more than the question whether it does. */
static void pass_over(int large, uint32_t blocks) {
  thread.passing[large] = blocks;
  thread.pass[large] = (int32_t)blocks;
}

static inline void count_passed(int large) {
  if (LIKELY(thread.passing[large] == 0)) return;
  const uint32_t left = thread.pass[large] > 0 ? (uint32_t)thread.pass[large] : 0;
  count_lost(thread.passing[large] - left);
  thread.passing[large] = left;
}

void record_end(void) {
  for (int large = 0; large < 2; large++) {
    count_passed(large);
    pass_over(large, 0);
  }
}

/* Tokens for the CPU time since the last time, where there are enough. Small blocks have half as many of
   their own, so that they never displace those that are to be recorded without loss. */
static int refill(int large) {
  const int64_t share = large ? 1 : 2, now = cpu_us();
  const int64_t rate = (int64_t)process.file->rate / share;
  int64_t tokens = (int64_t)process.file->burst / share;
  if (thread.refilled[large] != 0) {
    const int64_t earned = (now - thread.refilled[large]) * rate / 1000000;
    if (earned < tokens) tokens = earned;
  }
  if (tokens < FEWEST_RECORDED) {
    uint32_t* passed = &thread.passed[large];
    *passed = *passed == 0 ? FEWEST_PASSED : *passed < MOST_PASSED ? 2 * *passed : MOST_PASSED;
    pass_over(large, *passed);
    return 0;
  }
  thread.passed[large] = 0;
  thread.refilled[large] = now > 0 ? now : 1;
  if (!large) {
    thread.thinned = tokens < FEWEST_FOR_ALL;
    const int64_t most = MOST_PASSED / process.sampling + 1; /* then the clock is looked at */
    if (thread.thinned && tokens > most) tokens = most;
  }
  thread.tokens[large] = tokens;
  return 1;
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
  if (UNLIKELY(process.trace != NULL)) {
    if (!large) thread.pass[0] = INT32_MAX; /* smaller ones than the type */
    return traced_allocate(frame, block, size);
  }
  if (UNLIKELY(thread.busy)) {
    thread.nested++;
    return;
  }
  thread.busy = 1;
  if (process_current()) {
    count_passed(large);
    if (UNLIKELY(!may_record(large))) {
      count_lost(1);
    } else {
      put_block(frame, block, size);
      if (!large && thread.thinned) pass_over(0, random_gap());
    }
    stream_settle();
  }
  thread.busy = 0;
}

static void put_end(enum heap_kind kind, uint32_t words, const void* address, size_t size) {
  if (thread.busy || process.trace != NULL) return;
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

int record_free(const void* frame, const void* block) {
  if (!live_remove(block)) return 0;
  if (process.trace != NULL) {
    traced_free(frame, block);
    return 1;
  }
  put_end(HEAP_FREE, 2, block, 0);
  return 1;
}

void record_map(const void* frame, const void* address, size_t size) {
  if (thread.busy || process.trace != NULL) return;
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
