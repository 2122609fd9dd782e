// The letter box of a trace: what the agent in a program (C) and the recorder (C++) tell each other about one
// block at a time. Both map its one page shared. docs/design/traces.md says why.
//
// `state` is a futex. Who changes it to a state on the right may write what belongs to that:
//   TRACE_CLOSED -> TRACE_OPEN      recorder: the next fitting block is wanted
//   TRACE_OPEN -> TRACE_TAKEN       agent, by compare and swap: it fills in the block
//   TRACE_TAKEN -> TRACE_ASKED      agent: it waits for the answer, for TRACE_WAIT_NS at most
//   TRACE_ASKED -> TRACE_WATCHED    recorder: the block is watched
//   TRACE_ASKED -> TRACE_REFUSED    recorder: blocks of this call chain are not wanted
//   TRACE_ASKED -> TRACE_CLOSED     recorder: not this one; agent: nobody answered
//   TRACE_REFUSED -> TRACE_CLOSED   agent: it has remembered that
//   TRACE_WATCHED -> TRACE_FREEING  agent: it fills in who frees the block
//   TRACE_FREEING -> TRACE_FREED    agent
//   TRACE_FREED -> TRACE_CLOSED     recorder: it has read that
//   TRACE_WATCHED -> TRACE_CLOSED   recorder: the block is watched no more
#pragma once

#include <stdint.h>

#include "heap/format.h"

#define TRACE_MAGIC 0x0031454341525443ull /* "CTRACE1\0" */
#define TRACE_VERSION 1u
#define TRACE_WAIT_NS 50000000u

enum trace_state {
  TRACE_CLOSED = 0,
  TRACE_OPEN = 1,
  TRACE_TAKEN = 2,
  TRACE_ASKED = 3,
  TRACE_WATCHED = 4,
  TRACE_REFUSED = 5,
  TRACE_FREEING = 6,
  TRACE_FREED = 7,
};

/* Who did something to a block, and when (CLOCK_MONOTONIC, ns). */
struct trace_act {
  uint64_t ns;
  uint32_t tid, cpu;
  uint32_t frames; /* return addresses, innermost first */
  uint32_t reserved;
  uint64_t frame[HEAP_MAX_FRAMES];
};

struct trace_box {
  uint64_t magic;
  uint32_t version;
  uint32_t state;       /* enum trace_state */
  uint64_t least, most; /* bytes of the blocks that are asked about */
  uint32_t agents;      /* counted: program images that started with the agent */
  uint32_t stray;       /* counted: traps without a reason, which are hits that nobody was told of */
  uint32_t pid;         /* of the block's process */
  uint32_t reserved;
  uint64_t address, size;
  struct trace_act allocated, freed;
};
