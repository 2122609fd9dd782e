// Stores behind a load, in what compilers make of queues, locks and of data that is mostly read.
#include "decode/later_writes.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "compiled_shapes.h"

namespace cacheline::analysis {
namespace {

const char* const kLaterWrites = R"code(
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#define NOT_INLINED __attribute__((noinline))
#define LOAD(x) atomic_load_explicit(&(x), memory_order_relaxed)
#define STORE(x, v) atomic_store_explicit(&(x), v, memory_order_relaxed)
struct Ring { _Atomic unsigned long head, tail; unsigned long slots[16]; };
struct Deque { _Atomic long top, bottom; long *array; };
struct Lock { _Atomic int word; int waiters; long owner; };
struct Map { long version, mode; void *table; bool ready; int seq; struct Map *next; short low, high; };
long opaque(long x) { __asm__ volatile("" ::: "memory"); return x + 1; }
void *make(void) { static int one; __asm__ volatile("" ::: "memory"); return &one; }

/* Stored on every way onward. */
NOT_INLINED void advance(struct Ring *r, long n) {
  for (long i = 0; i < n; i++) {
    unsigned long v = LOAD(r->head);
    for (int k = 0; k < 8; k++) v = v * 31 + k;
    STORE(r->head, v);
  }
}
NOT_INLINED void behind_call(struct Ring *r) { unsigned long v = LOAD(r->head); v = opaque(v); STORE(r->head, v); }
NOT_INLINED long take(struct Deque *d) {
  long b = LOAD(d->bottom) - 1;
  STORE(d->bottom, b);
  atomic_thread_fence(memory_order_seq_cst);
  long t = LOAD(d->top);
  if (t <= b) return d->array[b];
  STORE(d->bottom, b + 1);
  return 0;
}
NOT_INLINED void add(struct Lock *l, int by) {
  int v = LOAD(l->word);
  while (!atomic_compare_exchange_weak(&l->word, &v, v + by)) ;
}
NOT_INLINED void either_way(struct Map *m, int c) {
  long v = m->version;
  if (c) { opaque(1); m->version = v + 1; } else { m->version = v + 2; }
}
NOT_INLINED void checked(struct Map *m) { int s = m->seq; if (s < 0) abort(); opaque(s); m->seq = s + 1; }
NOT_INLINED void element(struct Lock *l, int i) { int v = LOAD(l[i].word); v = opaque(v); STORE(l[i].word, v); }
NOT_INLINED void write_seq(struct Map *m, long v) {
  int s = *(volatile int *)&m->seq;
  if (v == 7) v = opaque(v);
  *(volatile int *)&m->seq = s + 1;
}
/* The same, after any number of loads. */
NOT_INLINED void spin_lock(struct Lock *l) {
  for (;;) {
    while (LOAD(l->word)) __builtin_ia32_pause();
    int none = 0;
    if (atomic_compare_exchange_strong(&l->word, &none, 1)) return;
  }
}
/* On some ways, as often as the load maybe. */
NOT_INLINED int try_push(struct Ring *r, unsigned long v) {
  unsigned long t = LOAD(r->tail);
  if (t - atomic_load_explicit(&r->head, memory_order_acquire) == 16) return 0;
  r->slots[t & 15] = v;
  atomic_store_explicit(&r->tail, t + 1, memory_order_release);
  return 1;
}
NOT_INLINED void sometimes(struct Map *m, int c) { long v = m->version; opaque(v); if (c) m->version = v + 1; }
NOT_INLINED void toggles(struct Map *m) {
  if (!*(volatile int *)&m->seq) { *(volatile int *)&m->seq = 1; opaque(1); *(volatile int *)&m->seq = 0; }
}
NOT_INLINED void cell(struct Map *m, int pos) {
  if (*(volatile int *)&m->seq == pos) { opaque(1); *(volatile int *)&m->seq = pos + 1; }
}
/* Only makes so what is not so. */
NOT_INLINED void set_flag(struct Map *m) { if (!m->mode) m->mode = 1; }
NOT_INLINED void set_bool(struct Map *m) { if (!m->ready) m->ready = true; }
NOT_INLINED void set_other(struct Map *m, long v) { if (m->mode != v) m->mode = v; }
NOT_INLINED void *lazy(struct Map *m) { void *p = m->table; if (!p) { p = make(); m->table = p; } return p; }
NOT_INLINED void twice_checked(struct Map *m) {
  if (!*(volatile bool *)&m->ready) { opaque(1); if (!*(volatile bool *)&m->ready) { opaque(2); *(volatile bool *)&m->ready = 1; } }
}
/* Not at all. */
NOT_INLINED long read_seq(struct Map *m) {
  int a, b; long v;
  do { a = *(volatile int *)&m->seq; v = *(volatile long *)&m->mode; b = *(volatile int *)&m->seq; } while ((a & 1) || a != b);
  return v;
}
NOT_INLINED long other_object(struct Map *m, struct Map *o) { long v = m->mode; o->mode = v + 1; return v; }
NOT_INLINED void other_bytes(struct Map *m) { short v = m->low; opaque(v); m->high = v; }
NOT_INLINED void next_object(struct Map *m) { long v = m->mode; m = m->next; opaque(v); m->mode = v; }
NOT_INLINED void last_object(struct Map *m) { while (m->mode > 0) m = m->next; opaque(1); m->version = 1; }
int main(void) { return 0; }
)code";

using Ways = decode::LaterWrites::Ways;

class LaterWrites : public CompiledShapes {
 protected:
  LaterWrites() : CompiledShapes(kLaterWrites) {}

  /// What is known best of a load in a function that is not of its frame.
  std::string of(const std::string& name) const {
    std::string best = "none";
    const auto take = [&best](const std::string& other, bool found) {
      static const std::map<std::string, int> order{
          {"none", 0}, {"setting", 1}, {"often", 2}, {"all, fewer", 3}, {"all", 4}};
      if (found && order.at(other) > order.at(best)) best = other;
    };
    eachAccess(name, [&](const decode::Instruction& instruction, const decode::Code& code, uint64_t at) {
      if (instruction.operand.kind != decode::AccessKind::read) return;
      const decode::LaterWrites later = decode::laterWrites(code, at);
      take(later.repeats ? "all, fewer" : "all", later.ways == Ways::all);
      take("often", later.mayBeOften || later.settings.size() > 1);
      take("setting", !later.settings.empty());
    });
    return best;
  }
};

TEST_P(LaterWrites, AreOnEveryWay) {
  for (const char* name :
       {"advance", "behind_call", "take", "add", "either_way", "checked", "element", "write_seq"})
    EXPECT_EQ(of(name), "all") << name;
}

TEST_P(LaterWrites, MayBeFewerThanLoads) {
  EXPECT_EQ(of("spin_lock"), "all, fewer");
}

TEST_P(LaterWrites, AreOnSomeWays) {
  for (const char* name : {"try_push", "sometimes", "toggles", "cell"}) EXPECT_EQ(of(name), "often") << name;
}

TEST_P(LaterWrites, OnlyMakeSoWhatIsNot) {
  for (const char* name : {"set_flag", "set_bool", "set_other", "lazy", "twice_checked"})
    EXPECT_EQ(of(name), "setting") << name;
}

TEST_P(LaterWrites, AreOfTheSameBytesBySameBase) {
  for (const char* name : {"read_seq", "other_object", "other_bytes", "next_object", "last_object"})
    EXPECT_EQ(of(name), "none") << name;
}

INSTANTIATE_TEST_SUITE_P(Compilers, LaterWrites,
                         testing::Combine(testing::Values("gcc", "clang"),
                                          testing::Values("-O0", "-O1", "-O2", "-O3")),
                         CompiledShapes::nameOf);

}  // namespace
}  // namespace cacheline::analysis
