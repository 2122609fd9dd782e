// The `allocations` file of a recording: what the agent (C) writes and the reader (C++) reads, little-endian.
// docs/allocations.md says the same in words.
//
// Page 0 is the file header. After it come chunks of whole pages; each belongs to one thread at a time and
// holds records, one behind the other, until a word that is 0. A record is written behind its first word, and
// that word last: a writer that is killed leaves whole records only.
#pragma once

#include <stdint.h>

#define HEAP_FILE_MAGIC 0x0031504145484c43ull  /* "CLHEAP1\0" */
#define HEAP_CHUNK_MAGIC 0x004b4e5548434c43ull /* "CLCHUNK\0" */
#define HEAP_VERSION 1u
#define HEAP_PAGE 4096u
#define HEAP_MAX_FRAMES 12u

/* A moment by both clocks: the one of the records' times, and the recording's (CLOCK_MONOTONIC, ns). */
struct heap_anchor {
  uint64_t ticks, ns;
};

/* In the first page. The recorder makes it; processes change only what is said to be counted. */
struct heap_file_header {
  uint64_t magic;
  uint32_t version;
  uint32_t page;            /* HEAP_PAGE */
  uint64_t sampling;        /* above the rate, of blocks smaller than always_from 1 in so many is recorded */
  uint64_t always_from;     /* bytes */
  uint64_t rate, burst;     /* a thread's, in blocks a second of CPU time and at once; of smaller ones half */
  uint64_t limit_pages;     /* of the file */
  uint64_t tsc;             /* 1: ticks are the CPU's time stamp counter; 0: they are ns */
  struct heap_anchor start; /* of the recorder, before the program runs */
  struct heap_anchor end;   /* of the recorder, after it; zeros until then */
  uint64_t next_page;       /* counted: the first page that no chunk has taken */
  uint64_t processes;       /* counted: images that started with the agent */
  uint64_t lost;            /* counted: blocks for which there was no chunk */
  uint64_t full;            /* 1: the disk was, so that nothing more is written */
};

struct heap_chunk_header {
  uint64_t magic;
  uint64_t offset; /* of this header in the file */
  uint32_t pages;  /* of the chunk, this header included */
  uint32_t pid, tid;
  uint32_t resume; /* words from here to the next record; written when a thread gives the chunk away */
  struct heap_anchor opened;
  uint64_t blocks;     /* counted: recorded in this chunk */
  uint64_t lost_rate;  /* counted: blocks above the rate, of either size */
  uint64_t lost_table; /* counted: blocks for which the table of live blocks had no place */
  uint64_t
      lost_nested; /* counted: blocks of signal handlers and the like that came while another was recorded */
};

/* The first word of a record: its kind in the low byte, its length in words (itself included) in the next
   one, and a value of 48 bits. */
enum heap_kind {
  HEAP_ALLOCATE = 1, /* value: address; ticks, size, stack hash */
  HEAP_FREE = 2,     /* value: address; ticks */
  HEAP_MAP = 3,      /* as HEAP_ALLOCATE, for mmap and mremap */
  HEAP_UNMAP = 4,    /* value: address; ticks, size */
  HEAP_STACK = 5,    /* value: frames; hash, return addresses, innermost first */
  HEAP_THREAD = 6,   /* value: thread whose records follow */
  HEAP_IMAGE = 7,    /* value: pid; ticks: a program image starts (exec), with nothing allocated */
  HEAP_FORK = 8,     /* value: pid of the parent; ticks: this process starts with the parent's blocks */
};

#define HEAP_VALUE_BITS 48
#define HEAP_WORD(kind, words, value) \
  ((uint64_t)(kind) | (uint64_t)(words) << 8 | (uint64_t)(value) << (64 - HEAP_VALUE_BITS))
