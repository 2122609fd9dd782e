/* Call chains. A frame costs two look-ups: how its function keeps its stack (which is found once and
   remembered for each return address), and the return address itself. Frame pointers are not trusted, unwind
   tables are. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "heap/agent/agent.h"

#define RULES (1u << 15)
#define STACKS (1u << 14)
#define MAIN_STACK (8u << 20)

/* Two threads may write one entry at a time: `check` is pc ^ packed, so that a mixture fits no address. */
struct rule_entry {
  _Atomic uint64_t check, packed;
};
static struct rule_entry rules[RULES];
static _Atomic uint64_t known[STACKS]; /* hashes of stacks that are in the recording */

static inline uint64_t pack(struct frame_rule rule) {
  return (uint64_t)rule.cfa | (uint64_t)rule.bp << 2 | ((uint64_t)rule.cfa_offset & 0xfffffff) << 4 |
         ((uint64_t)rule.bp_offset & 0xfffffff) << 32 | (uint64_t)1 << 63;
}

static inline int64_t signed_28_bits(uint64_t packed, unsigned shift) {
  return (int64_t)(packed << (36 - shift)) >> 36;
}

static uint64_t find_rule(uint64_t pc, struct rule_entry* entry) {
  /* A return address may lie behind its function's end, where the call is the last instruction. */
  const struct frame_rule rule = frame_rule_at(pc - 1);
  const int fits = rule.cfa_offset == (int32_t)((uint32_t)rule.cfa_offset << 4) >> 4 &&
                   rule.bp_offset == (int32_t)((uint32_t)rule.bp_offset << 4) >> 4;
  const uint64_t packed = fits ? pack(rule) : pack((struct frame_rule){RULE_END, 0, BP_SAME, 0});
  atomic_store_explicit(&entry->packed, packed, memory_order_relaxed);
  atomic_store_explicit(&entry->check, pc ^ packed, memory_order_relaxed);
  return packed;
}

static inline uint64_t rule_of(uint64_t pc) {
  struct rule_entry* entry = &rules[(pc * 0x9e3779b97f4a7c15ull) >> 49];
  const uint64_t packed = atomic_load_explicit(&entry->packed, memory_order_relaxed);
  if (LIKELY((atomic_load_explicit(&entry->check, memory_order_relaxed) ^ packed) == pc)) return packed;
  return find_rule(pc, entry);
}

/* The main thread's stack: the kernel keeps what it may grow by free of other mappings. */
static uint64_t main_low, main_end, main_descriptor;

void stacks_prepare(void) {
  struct rlimit size;
  void** end = dlsym(RTLD_DEFAULT, "__libc_stack_end");
  if (end == NULL || getrlimit(RLIMIT_STACK, &size) != 0) return;
  main_end = (uint64_t)*end;
  main_low = main_end - (size.rlim_cur < MAIN_STACK ? size.rlim_cur : MAIN_STACK);
  main_descriptor = (uint64_t)__builtin_thread_pointer();
}

/* It allocates while it holds the thread's lock: for that block it must not be called again. */
AGENT_EXPORT int pthread_getattr_np(pthread_t id, pthread_attr_t* attributes) {
  if (!real_ready() || real.pthread_getattr_np == NULL) return ENOSYS;
  const int before = thread.in_getattr;
  thread.in_getattr = 1;
  const int result = real.pthread_getattr_np(id, attributes);
  thread.in_getattr = before;
  return result;
}

/* Asked once a thread. */
static void find_own_stack(void) {
  const uint64_t nested = thread.nested; /* what is allocated for the answer is the agent's */
  pthread_attr_t attributes;
  void* low = NULL;
  size_t size = 0;
  thread.stack_low = UINT64_MAX;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) thread.stack_low = (uint64_t)low;
    pthread_attr_destroy(&attributes);
  }
  thread.nested = nested;
}

/* Up to where memory is certainly there. The thread's descriptor lies at the upper end of its stack, the main
   thread's stack ends at __libc_stack_end; on any other stack (a coroutine's) it is the end of this page. */
static uint64_t stack_limit(uint64_t sp) {
  const uint64_t own = (uint64_t)__builtin_thread_pointer();
  if (sp < main_end && sp >= main_low) return main_end;
  if (thread.stack_low == 0 && own != main_descriptor && !thread.in_getattr) find_own_stack();
  if (thread.stack_low != 0 && sp >= thread.stack_low && sp < own) return own;
  return (sp | (HEAP_PAGE - 1)) + 1;
}

static inline uint64_t word_at(uint64_t address) {
  return *(const uint64_t*)address;
}

/* Frames from the caller of the function with frame `frame` on, innermost first. Every read is of this
   thread's stack between `frame` and its end. */
uint32_t stack_walk(const void* frame, uint64_t* frames) {
  uint64_t sp = (uint64_t)frame + 16, bp = word_at((uint64_t)frame), pc = word_at((uint64_t)frame + 8);
  const uint64_t low = sp, limit = stack_limit(sp);
  uint32_t count = 0;
  for (;;) {
    frames[count++] = pc;
    if (count == HEAP_MAX_FRAMES) break;
    const uint64_t rule = rule_of(pc);
    const int64_t offset = signed_28_bits(rule, 4), bp_offset = signed_28_bits(rule, 32);
    uint64_t cfa = 0;
    if ((rule & 3) == RULE_END) break;
    if ((rule & 3) == RULE_SP)
      cfa = sp + (uint64_t)offset;
    else
      cfa = bp + (uint64_t)offset;
    if ((rule & 3) == RULE_AT_BP) {
      if (cfa < low || cfa > limit - 8) break;
      cfa = word_at(cfa);
    }
    if (cfa <= sp || cfa > limit || (cfa & 7) != 0) break;
    const uint64_t kind = rule >> 2 & 3;
    if (kind != BP_SAME) {
      const uint64_t saved = (kind == BP_AT_CFA ? cfa : bp) + (uint64_t)bp_offset;
      if (saved < low || saved > limit - 8) break;
      bp = word_at(saved);
    }
    pc = word_at(cfa - 8);
    sp = cfa;
    if (pc < HEAP_PAGE) break;
  }
  return count;
}

uint64_t stack_hash_of(const uint64_t* frames, uint32_t count) {
  uint64_t hash = count;
  for (uint32_t i = 0; i < count; i++) {
    hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  }
  return hash;
}

uint64_t stack_hash(const void* frame) {
  uint64_t frames[HEAP_MAX_FRAMES];
  const uint32_t count = stack_walk(frame, frames);
  const uint64_t hash = stack_hash_of(frames, count);
  if (LIKELY(atomic_load_explicit(&known[hash % STACKS], memory_order_relaxed) == hash)) return hash;
  uint64_t* record = stream_reserve(2 + count);
  if (record == NULL) return hash;
  record[1] = hash;
  for (uint32_t i = 0; i < count; i++) record[2 + i] = frames[i];
  stream_commit(record, HEAP_STACK, 2 + count, count);
  atomic_store_explicit(&known[hash % STACKS], hash, memory_order_relaxed);
  return hash;
}
