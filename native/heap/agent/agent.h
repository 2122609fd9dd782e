/* What the files of the agent share. The agent is loaded into programs that are not ours: it allocates
   nothing by malloc, takes no lock, opens no descriptor for longer than a moment, and leaves errno as it
   found it. */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "heap/format.h"

#pragma GCC visibility push(hidden) /* of what is only declared, too: then it needs no table to be found */

#define AGENT_EXPORT __attribute__((visibility("default")))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define FRAME __builtin_frame_address(0)

/* --- real.c: the functions that ours stand in front of
 * ------------------------------------------------------- */

struct real_functions {
  void* (*malloc)(size_t);
  void (*free)(void*); /* until it is known, free_watched */
  void* (*calloc)(size_t, size_t);
  void* (*realloc)(void*, size_t);
  void* (*reallocarray)(void*, size_t, size_t);
  void* (*aligned_alloc)(size_t, size_t);
  int (*posix_memalign)(void**, size_t, size_t);
  void* (*memalign)(size_t, size_t);
  void* (*valloc)(size_t);
  void* (*pvalloc)(size_t);
  size_t (*malloc_usable_size)(void*);
  void* (*mmap)(void*, size_t, int, int, int, off_t);
  int (*munmap)(void*, size_t);
  void* (*mremap)(void*, size_t, size_t, int, ...);
  int (*pthread_getattr_np)(pthread_t, pthread_attr_t*);
};
extern struct real_functions real;
void free_watched(void* block); /* hooks.c */

/* Looks them up. False while the look-up itself runs: blocks then come from a small area of our own. */
int real_look_up(void);
static inline int real_ready(void) {
  return LIKELY(real.malloc != NULL) || real_look_up();
}

#define EARLY_BYTES (64u << 10)
extern unsigned char early_area[EARLY_BYTES];
void* early_allocate(size_t size, size_t alignment);
size_t early_size(const void* block);
static inline int early_owns(const void* block) {
  return UNLIKELY((uintptr_t)block - (uintptr_t)early_area < EARLY_BYTES);
}

/* --- process.c: the file and this process
 * --------------------------------------------------------------------- */

struct trace_box;
struct agent_process {
  const char* path;              /* of the file: our own copy, since programs change their environment */
  struct heap_file_header* file; /* shared with all processes; NULL: nothing is recorded */
  struct trace_box* trace;       /* likewise; NULL: the program is not traced */
  uint32_t sampling;             /* of blocks below always_from, above the rate: one in so many is recorded */
  uint64_t always_from;          /* 0 until it is known; SIZE_MAX: nothing is recorded */
  uint32_t pid;
  uint32_t generation; /* of chunks: one that was mapped before a fork is not ours */
  uint64_t fork_ticks; /* of a fork that is under way */
  int tsc;
  volatile int* marker; /* in a page that the kernel wipes in a child: 1 where this process is set up */
};
extern struct agent_process process;

/* True where this process records; sets it up in its first call. */
int process_ready(void);
/* Sets a forked child up. False while another thread does. */
int process_forked(void);
/* The same where it is set up, and in a forked child for the first time. Inside of the agent only. */
static inline int process_current(void) {
  return LIKELY(*process.marker == 1) || process_forked();
}

uint64_t monotonic_ns(void);
static inline uint64_t ticks_now(void) {
#ifdef __x86_64__
  /* rdtscp waits for the loads before it: the time of a block is not before it was free. */
  unsigned cpu;
  if (LIKELY(process.tsc)) return __builtin_ia32_rdtscp(&cpu);
#endif
  return monotonic_ns();
}
struct heap_anchor anchor_now(void);

/* --- stream.c: this thread's chunk
 * ---------------------------------------------------------------------------- */

struct agent_thread {
  int32_t pass[2]; /* blocks that go by before one is looked at; 0 in a new thread */
  struct heap_chunk_header* chunk;
  uint64_t *cursor, *end; /* in the chunk; *cursor is 0 */
  uint32_t generation, tid;
  int busy;            /* inside of the agent */
  int ended;           /* its destructor has run: it keeps no chunk */
  int64_t tokens[2];   /* blocks that may be recorded: small ones, and those of always_from bytes and more */
  int64_t refilled[2]; /* us of the thread's CPU time; 0: never */
  uint32_t passed[2];  /* blocks before the last look at the clock; 0: there were tokens */
  uint32_t passing[2]; /* what `pass` was, until it is counted as lost */
  int thinned;         /* of small blocks one in `sampling` is recorded */
  uint64_t random;     /* 0 in a new thread */
  uint64_t nested;     /* not yet in the chunk's lost_nested */
  uint64_t stack_low;  /* where its stack begins; 0: not asked yet; UINT64_MAX: not known */
  int in_getattr;      /* in pthread_getattr_np, which holds the thread's lock */
};
extern __thread struct agent_thread thread;

/* In another chunk. */
uint64_t* stream_reserve_anew(uint32_t words);
/* Room for a record of so many words in this thread's chunk, NULL where there is none. */
static inline uint64_t* stream_reserve(uint32_t words) {
  if (UNLIKELY(thread.generation != process.generation) || UNLIKELY(thread.chunk == NULL) ||
      UNLIKELY((size_t)(thread.end - thread.cursor) < words))
    return stream_reserve_anew(words);
  uint64_t* record = thread.cursor;
  thread.cursor += words;
  return record;
}
/* Makes the reserved words a record: all but the first were written. */
static inline void stream_commit(uint64_t* record, enum heap_kind kind, uint32_t words, uint64_t value) {
  __atomic_store_n(record, HEAP_WORD(kind, words, value), __ATOMIC_RELEASE);
}
/* Gives the chunk away for the next thread, where this one has ended. */
void stream_give_away(void);
static inline void stream_settle(void) {
  if (UNLIKELY(thread.ended) && thread.chunk != NULL) stream_give_away();
}
void stream_prepare(void);
/* In a forked child: the chunks are the parent's. */
void stream_forget(void);

/* --- live.c: the recorded blocks that were not freed
 * ----------------------------------------------------------- */

/* A bucket is one cache line of tags for 1 KiB of the heap, which has twelve blocks of 64 bytes with glibc's
 * headers. Of smaller ones it has up to 32: see live.c. */
#define LIVE_SLOTS 16
#define LIVE_COVER_BITS 10

/* How many of these blocks, and of the early area's, begin in each 32 bytes of the heap; addresses 256 MiB
 * apart share a count. Most frees read one and are done. No two blocks of glibc's begin within 32 bytes: with
 * more of them to a count, each free of a block beside a recorded one would search the table. */
#define LIVE_COUNTS (1u << 23)
#define LIVE_COUNT_BITS 5
extern unsigned char live_counts[LIVE_COUNTS];

static inline unsigned char* live_count_of(const void* block) {
  return &live_counts[((uint64_t)block >> LIVE_COUNT_BITS) % LIVE_COUNTS];
}

static inline int live_may_hold(const void* block) {
  return __atomic_load_n(live_count_of(block), __ATOMIC_RELAXED) != 0;
}

/* Bits 4 to 35 of an address: those that its bucket does not tell, and more. 0 is an empty slot. */
typedef uint32_t live_tag;
extern live_tag (*live_buckets)[LIVE_SLOTS];
extern uint64_t live_mask;

static inline live_tag live_tag_of(uint64_t address) {
  const live_tag low = (live_tag)(address >> 4);
  return low != 0 ? low : 1;
}

/* The higher bits keep the arenas of threads, 64 MiB apart, from meeting. */
static inline uint64_t live_hash(uint64_t address) {
  return (address >> LIVE_COVER_BITS) + (address >> 26) * 0x9e3779b1u;
}

static inline live_tag* live_bucket_of(uint64_t address) {
  return live_buckets[live_hash(address) & live_mask];
}

/* What live_insert will touch. */
static inline void live_prefetch(const void* block) {
  __builtin_prefetch(live_bucket_of((uint64_t)block), 1);
  __builtin_prefetch(live_count_of(block), 1);
}

int live_prepare(void);
int live_insert(const void* block);
/* True where it was recorded; it then is no more. */
int live_remove(const void* block);
/* From now on live_may_hold is true of it. */
void live_watch(const void* block);

/* --- stacks.c, frame_rule.c: call chains
 * ------------------------------------------------------------------------ */

/* How to get from a frame to its caller's (the canonical frame address, CFA, of DWARF). */
struct frame_rule {
  enum { RULE_END, RULE_SP, RULE_BP, RULE_AT_BP } cfa; /* CFA = sp + offset, bp + offset, *(bp + offset) */
  int32_t cfa_offset;
  enum { BP_SAME, BP_AT_CFA, BP_AT_BP } bp; /* the caller's bp: unchanged, at CFA + offset, at bp + offset */
  int32_t bp_offset;
};
/* From the unwind tables of the file that holds `pc`; RULE_END where they say nothing that we understand. */
struct frame_rule frame_rule_at(uint64_t pc);
void frame_rule_prepare(void);
void stacks_prepare(void);

/* The call chain above `frame`, at most HEAP_MAX_FRAMES return addresses, innermost first; their number. */
uint32_t stack_walk(const void* frame, uint64_t* frames);
uint64_t stack_hash_of(const uint64_t* frames, uint32_t count);
/* The hash of the call chain above `frame`, whose addresses are in the recording. */
uint64_t stack_hash(const void* frame);

/* --- record.c
 * ---------------------------------------------------------------------------------------------------- */

void record_allocate(const void* frame, const void* block, size_t size);
/* True where a record was made or is owed: the block was recorded. Call it before the block is given back. */
int record_free(const void* frame, const void* block);
void record_map(const void* frame, const void* address, size_t size);
void record_unmap(const void* address, size_t size);
/* Counts what this thread has passed over, where it ends. */
void record_end(void);

/* --- traced.c: where the program is traced, nothing is recorded of its blocks
 * ---------------------------------------------------------------------------------------------------- */

/* Finds the letter box of a trace. False where the program is not traced. */
int traced_prepare(void);
/* Where the recorder wants such a block it is watched when this returns. */
void traced_allocate(const void* frame, const void* block, size_t size);
/* A block that live_remove knew is about to be given back. */
void traced_free(const void* frame, const void* block);

#pragma GCC visibility pop
