// The memory that the agent in the program (C) and the recorder (C++) share: a file in the recording's
// folder, gone when the recorder has ended.
//
// Page 0 is the header, then come the entries of the slots, then a ring of SAMPLER_RING_BYTES for each slot.
// A slot belongs to one thread at a time. Its ring holds whole perf records (linux/perf_event.h) of the event
// with the attributes below, each in one piece; SAMPLER_PADDING fills the ring up to its end where a record
// does not fit.
#pragma once

#include <linux/perf_event.h>
#include <stdint.h>

#define SAMPLER_MAGIC 0x0031504d53484c43ull /* "CLHSMP1\0" */
#define SAMPLER_VERSION 3u
#define SAMPLER_PAGE 4096u
#define SAMPLER_SLOTS 2048u
#define SAMPLER_RING_BYTES (128u << 10)
#define SAMPLER_PADDING 0u /* perf_event_header.type */

#define SAMPLER_EVENT_ID 1u
#define SAMPLER_SAMPLE_TYPE                                                                         \
  (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
   PERF_SAMPLE_PERIOD | PERF_SAMPLE_REGS_INTR)
#define SAMPLER_REGISTERS 20u /* of kX86SampleRegs, in the order of its bits */

/* A sample of SAMPLER_SAMPLE_TYPE. */
struct sampler_sample {
  struct perf_event_header header;
  uint64_t identifier, ip;
  uint32_t pid, tid;
  uint64_t time; /* CLOCK_MONOTONIC, ns */
  uint32_t cpu, reserved;
  uint64_t period; /* ns */
  uint64_t abi;    /* PERF_SAMPLE_REGS_ABI_64 */
  uint64_t registers[SAMPLER_REGISTERS];
};

/* What every other record ends with (sample_id_all). */
struct sampler_trailer {
  uint32_t pid, tid;
  uint64_t time;
  uint32_t cpu, reserved;
  uint64_t identifier;
};

/* Made by the recorder; processes change only what is said to be counted. */
struct sampler_file_header {
  uint64_t magic;
  uint32_t version, slots;
  uint64_t interval;      /* ns between samples */
  uint64_t tick;          /* ns: how often the kernel looks at CPU-time timers, 1 / CONFIG_HZ */
  uint32_t wall;          /* 1: of CLOCK_MONOTONIC; 0: of the thread's CPU time */
  uint32_t enabled;       /* 0: nothing is recorded, for now */
  uint64_t heartbeat;     /* CLOCK_MONOTONIC, ns: the recorder lives */
  uint64_t pid_namespace; /* inode of the recorder's, 0: unknown */
  /* counted */
  uint64_t images;           /* program images that started with the agent */
  uint64_t slots_made;       /* slots behind these are SLOT_NONE, and of these some may be */
  uint64_t unsampled;        /* threads that are not sampled: no slot, no memory, no timer */
  uint64_t small_stacks;     /* threads that are not sampled, because their stack is too small for a signal */
  uint64_t small_alternates; /* the same of their alternate stack */
  uint64_t left_handlers;    /* threads that were not sampled for a time: a handler left by longjmp */
  uint64_t sealed;           /* processes that restricted their own system calls */
  uint64_t lost_mappings;    /* for which there was no room */
  uint64_t go;               /* processes that are not sampled, because there is code of Go's in them */
  uint32_t full;             /* 1: the disk was */
  uint32_t timer_error;      /* errno of the last timer that could not be had */
};

enum sampler_state {
  SLOT_NONE = 0, /* its ring has no place on disk (yet) */
  SLOT_FREE = 1,
  SLOT_USED = 2,
  SLOT_ENDED = 3, /* its thread writes no more; the recorder makes it free when it has read all */
};

/* One cache line. The thread writes head, busy and lost; the recorder tail. */
struct sampler_slot {
  uint32_t state, busy; /* busy: a record is being written, whose time may be any since */
  uint32_t pid, tid;
  uint64_t head, tail; /* bytes since the slot was taken; head - tail is at most the ring's size */
  uint64_t lost;       /* samples for which the ring had no room */
  uint64_t in_kernel;  /* timer signals that came at the end of a system call, which are no samples */
  uint32_t timer;      /* 1 + its number in the kernel; 0: there is none */
  uint32_t foreign;    /* 1: pid and tid are numbers of another namespace than the recorder's */
  uint32_t reserved[2];
};

#define SAMPLER_RINGS_AT (SAMPLER_PAGE + SAMPLER_SLOTS * (uint64_t)sizeof(struct sampler_slot))
