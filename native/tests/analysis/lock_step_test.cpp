// How threads take words and give them back, in what compilers make of locks, and of what is none.
#include "decode/lock_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiled_shapes.h"

namespace cacheline::analysis {
namespace {

const char* const kLocks = R"code(
#include <stdatomic.h>
#include <stdbool.h>
#define NOT_INLINED __attribute__((noinline))
#define RELAXED memory_order_relaxed
struct Word { _Atomic unsigned word, turn; long data, after; };
struct Flag { _Atomic unsigned char taken; long data, after; };
struct Sum { _Atomic unsigned long bits, count; };
struct Node { struct Node *next; };
struct Stack { _Atomic(struct Node *) head; long pushed; };
struct Load { _Atomic int running, most; long work; };
struct Ring { _Atomic unsigned reserved, filled; unsigned slots[64]; };
__attribute__((noipa, noinline)) void slow(void *p) { __asm__ volatile("" : : "r"(p) : "memory"); }
enum { ALONE = 1 << 24, ANY = (1 << 25) - 1 };

/* Locks. */
NOT_INLINED void exchanged(struct Flag *f) {
  while (atomic_exchange_explicit(&f->taken, 1, memory_order_acquire)) __builtin_ia32_pause();
  f->data++;
  atomic_store_explicit(&f->taken, 0, memory_order_release);
  f->after++;
}
NOT_INLINED void compared(struct Word *w) {
  unsigned none = 0;
  while (!atomic_compare_exchange_weak(&w->word, &none, 1)) none = 0;
  w->data++;
  atomic_store(&w->word, 0);
  w->after++;
}
NOT_INLINED void tried(struct Word *w) {
  unsigned none = 0;
  if (!atomic_compare_exchange_strong(&w->word, &none, 7)) { slow(w); return; }
  w->data++;
  atomic_store_explicit(&w->word, 0, memory_order_release);
}
NOT_INLINED void flagged(struct Word *w) {
  for (;;) {
    unsigned old = atomic_load_explicit(&w->word, RELAXED);
    if (!(old & ANY) && atomic_compare_exchange_weak(&w->word, &old, old + ALONE)) break;
    __builtin_ia32_pause();
  }
  w->data++;
  if (atomic_fetch_sub(&w->word, ALONE) >> 30) slow(w);
  w->after++;
}
NOT_INLINED long read_locked(struct Load *l) {
  if (atomic_fetch_add(&l->running, 1) + 1 < 0) slow(l);
  long seen = l->work;
  if (atomic_fetch_sub(&l->running, 1) - 1 < 0) slow(l);
  return seen;
}
NOT_INLINED void ticket(struct Word *w) {
  unsigned own = atomic_fetch_add(&w->word, 1);
  while (atomic_load_explicit(&w->turn, memory_order_acquire) != own) __builtin_ia32_pause();
  w->data++;
  atomic_store_explicit(&w->turn, own + 1, memory_order_release);
  w->after++;
}
NOT_INLINED void ticket_added(struct Word *w) {
  unsigned own = atomic_fetch_add(&w->word, 1);
  while (atomic_load_explicit(&w->turn, memory_order_acquire) != own) __builtin_ia32_pause();
  w->data++;
  atomic_fetch_add(&w->turn, 1);
  w->after++;
}
/* None, but for only_word, which guards nothing in memory. */
NOT_INLINED void add_float(struct Sum *s, double v) {
  unsigned long old = atomic_load_explicit(&s->bits, RELAXED), sum;
  do {
    double d; __builtin_memcpy(&d, &old, 8);
    d += v; __builtin_memcpy(&sum, &d, 8);
  } while (!atomic_compare_exchange_weak(&s->bits, &old, sum));
  atomic_fetch_add_explicit(&s->count, 1, RELAXED);
}
NOT_INLINED void add_float_and_reset(struct Sum *s, double v) {
  add_float(s, v);
  unsigned long old = atomic_load_explicit(&s->bits, RELAXED);
  while (!atomic_compare_exchange_weak(&s->bits, &old, old * 3)) ;
  if (atomic_fetch_add(&s->count, 1) == 1000) atomic_store(&s->bits, 0);
}
NOT_INLINED void push(struct Stack *s, struct Node *n) {
  struct Node *top = atomic_load(&s->head);
  do n->next = top; while (!atomic_compare_exchange_weak(&s->head, &top, n));
  s->pushed++;
}
NOT_INLINED void push_and_take(struct Stack *s, struct Node *n, struct Node **all) {
  struct Node *top = atomic_load(&s->head);
  do n->next = top; while (!atomic_compare_exchange_weak(&s->head, &top, n));
  if (++s->pushed > 100) *all = atomic_exchange(&s->head, (struct Node *)0);
}
NOT_INLINED void counted(struct Load *l) { atomic_fetch_add(&l->running, 1); l->work++; atomic_fetch_sub(&l->running, 1); }
NOT_INLINED void measured(struct Load *l) {
  int now = atomic_fetch_add(&l->running, 1) + 1;
  if (now > atomic_load_explicit(&l->most, RELAXED)) atomic_store_explicit(&l->most, now, RELAXED);
  l->work++;
  atomic_fetch_sub(&l->running, 1);
}
NOT_INLINED void referenced(struct Word *w) {
  unsigned old = atomic_load(&w->word);
  do if (old == 0) return; while (!atomic_compare_exchange_weak(&w->word, &old, old + 1));
  w->data++;
  if (atomic_fetch_sub(&w->word, 1) == 1) slow(w);
}
NOT_INLINED void reserved(struct Ring *r, unsigned v) {
  unsigned own = atomic_fetch_add(&r->reserved, 1);
  r->slots[own & 63] = v;
  while (atomic_load_explicit(&r->filled, memory_order_acquire) != own) __builtin_ia32_pause();
  atomic_store_explicit(&r->filled, own + 1, memory_order_release);
}
NOT_INLINED void emptied(struct Stack *s) {
  struct Node *all = atomic_exchange(&s->head, (struct Node *)0);
  if (all) { s->pushed--; atomic_store(&s->head, all->next); }
}
NOT_INLINED void only_word(struct Word *w) {
  unsigned none = 0;
  while (!atomic_compare_exchange_weak(&w->word, &none, 1)) none = 0;
  atomic_store(&w->word, 0);
}
/* Taken here, given back elsewhere. */
NOT_INLINED bool attempt(struct Word *w, bool alone) {
  unsigned old = atomic_load_explicit(&w->word, RELAXED);
  for (;;) {
    unsigned next = old;
    bool is_free = !(old & (alone ? ANY : ALONE));
    if (is_free) next += alone ? ALONE : 1;
    if (atomic_compare_exchange_weak(&w->word, &old, next)) return !is_free;
  }
}
NOT_INLINED void give_back(struct Word *w) { if (atomic_fetch_sub(&w->word, ALONE) >> 30) slow(w); }
NOT_INLINED void last_reference(struct Word *w) { if (atomic_fetch_sub(&w->word, 1) == 1) slow(w); }
NOT_INLINED void unlock(struct Word *w) { atomic_store_explicit(&w->word, 0, memory_order_release); }
NOT_INLINED void lock(struct Word *w) { unsigned none = 0; while (!atomic_compare_exchange_weak(&w->word, &none, 1)) none = 0; }
int main(void) { return 0; }
)code";

class LockSteps : public CompiledShapes {
 protected:
  LockSteps() : CompiledShapes(kLocks) {}

  /// Of each instruction of a function that writes elsewhere than in its frame.
  std::vector<decode::LockStep> of(const std::string& name) const {
    std::vector<decode::LockStep> steps;
    eachWrite(name, [&](uint64_t, const decode::Code& code, uint64_t at) {
      steps.push_back(decode::lockStep(code, at));
    });
    return steps;
  }

  bool isLock(const std::string& name) const {
    return std::ranges::any_of(of(name), &decode::LockStep::isLock);
  }

  /// Displacements of what the function writes while it holds a lock.
  std::vector<int64_t> heldIn(const std::string& name) const {
    std::vector<int64_t> held;
    const std::vector<decode::LockStep> steps = of(name);
    eachWrite(name, [&](int64_t displacement, const decode::Code&, uint64_t at) {
      if (std::ranges::any_of(steps, [&](const decode::LockStep& each) { return each.holdsAt(at); }))
        held.push_back(displacement);
    });
    return held;
  }

  bool areTakenAndGivenBack(const std::string& taking, const std::string& giving) const {
    for (const decode::LockStep& take : of(taking))
      for (const decode::LockStep& back : of(giving))
        if (take.takes && decode::undoes(back.change, take.change)) return true;
    return false;
  }

 private:
  template <typename Visit>
  void eachWrite(const std::string& name, Visit&& visit) const {
    eachAccess(name, [&](const decode::Instruction& instruction, const decode::Code& code, uint64_t at) {
      if (instruction.operand.kind != decode::AccessKind::read)
        visit(instruction.operand.displacement, code, at);
    });
  }
};

TEST_P(LockSteps, AreTakenAndGivenBackWithDataInBetween) {
  for (const char* name :
       {"exchanged", "compared", "tried", "flagged", "read_locked", "ticket", "ticket_added", "only_word"})
    EXPECT_TRUE(isLock(name)) << name;
}

TEST_P(LockSteps, AreNoSumsListsGaugesOrReferences) {
  for (const char* name : {"add_float", "add_float_and_reset", "push", "push_and_take", "counted", "measured",
                           "referenced", "reserved", "emptied", "attempt", "lock"})
    EXPECT_FALSE(isLock(name)) << name;
}

TEST_P(LockSteps, HoldUntilTheWordIsGivenBack) {
  EXPECT_EQ(heldIn("exchanged"), std::vector<int64_t>{8});
  for (const char* name : {"compared", "tried", "flagged", "ticket", "ticket_added"})
    EXPECT_EQ(heldIn(name), std::vector<int64_t>{8}) << name;
}

TEST_P(LockSteps, OfTwoFunctionsAreToldByWhatTheyChange) {
  EXPECT_TRUE(areTakenAndGivenBack("attempt", "give_back"));
  EXPECT_TRUE(areTakenAndGivenBack("lock", "unlock"));
  EXPECT_FALSE(areTakenAndGivenBack("attempt", "last_reference"));
  EXPECT_FALSE(areTakenAndGivenBack("add_float", "unlock"));
  EXPECT_FALSE(areTakenAndGivenBack("push", "unlock"));
}

INSTANTIATE_TEST_SUITE_P(Compilers, LockSteps,
                         testing::Combine(testing::Values("gcc", "clang"),
                                          testing::Values("-O1", "-O2", "-O3")),
                         CompiledShapes::nameOf);

}  // namespace
}  // namespace cacheline::analysis
