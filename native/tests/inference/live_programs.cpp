// Programs whose heap objects say their types themselves: `note("Type|Derived", address, size, count)`.
#include "tests/inference/live_programs.h"

namespace cacheline::inference::test {

const char* const kNoteInC = R"code(
#ifdef __cplusplus
extern "C"
#endif
__attribute__((noinline)) void note(const char* type, void* object, unsigned long size, unsigned long count) {
  __asm__ volatile("" : : "r"(type), "r"(object), "r"(size), "r"(count) : "memory");
}
)code";

const char* const kHeapObjectsInCpp = R"code(
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>
struct Clock { long padding[3]; std::atomic<long> now{0}; std::atomic<int> readers{0}; };
struct Inner { int kind; long total; };
struct Worker { long id; Inner inner[2]; Clock* clock; Worker* next; long count; double weight; };
struct Shape { virtual ~Shape() = default; virtual long area() { return side * side; } long side = 3; long uses = 0; };
struct Square : Shape { long area() override { uses++; return side * side + extra; } long extra = 1; };
struct Pool {
  Worker* workers; unsigned long size; std::unique_ptr<Clock> clock; std::atomic<Worker*> current{nullptr};
  void bump(unsigned long i) { workers[i].count++; }
  long tick() { return clock->now.fetch_add(1, std::memory_order_relaxed); }
};
#define NOINLINE __attribute__((noinline))
NOINLINE long tick(Clock* clock, int times) { long sum = 0; for (int i = 0; i < times; i++) sum += clock->now.fetch_add(1); return sum; }
NOINLINE void fill(Worker* workers, int n, Clock* clock) {
  for (int i = 0; i < n; i++) { workers[i].id = i; workers[i].clock = clock; workers[i].next = i + 1 < n ? &workers[i + 1] : nullptr; workers[i].count = 0; workers[i].weight = 1; }
}
NOINLINE long walk(const Worker* worker) { long sum = 0; for (; worker; worker = worker->next) sum += worker->count + worker->clock->now.load(); return sum; }
NOINLINE void inner(Worker& worker, int i) { worker.inner[i & 1].total += i; worker.inner[1].kind = i; }
NOINLINE double weigh(std::span<Worker> workers) { double sum = 0; for (auto& worker : workers) sum += worker.weight; return sum; }
NOINLINE void add(std::vector<Worker*>& list) { for (Worker* worker : list) worker->count += 2; }
NOINLINE long shapes(Shape* shape) { shape->uses++; return shape->area(); }
NOINLINE void lambda(Worker* worker, Clock& clock) {
  auto step = [&, worker](int by) { worker->count += by; clock.readers.fetch_add(by); };
  for (int i = 0; i < 3; i++) step(i);
}
NOINLINE void pool(Pool& pool) { for (unsigned long i = 0; i < pool.size; i++) { pool.bump(i); pool.tick(); } pool.current = pool.workers; pool.current.load()->count++; }
Worker* everywhere;
NOINLINE void global() { everywhere->count++; everywhere->clock->readers++; }
NOINLINE void* body(void* argument) { auto* worker = static_cast<Worker*>(argument); for (int i = 0; i < 4; i++) { worker->count++; worker->clock->now++; } return nullptr; }
int main() {
  auto* clock = new Clock; note("Clock", clock, sizeof *clock, 1);
  auto* workers = new Worker[4]; note("Worker|Inner", workers, sizeof *workers, 4);
  fill(workers, 4, clock);
  long sum = tick(clock, 4) + walk(workers);
  inner(workers[2], 3); sum += static_cast<long>(weigh({workers, 4}));
  std::vector<Worker*> list{workers, workers + 2}; add(list);
  Shape* square = new Square; note("Shape|Square", square, sizeof(Square), 1);
  sum += shapes(square);
  lambda(workers + 1, *clock);
  auto* all = new Pool{workers, 4, std::make_unique<Clock>(), {}};
  note("Pool", all, sizeof *all, 1); note("Clock", all->clock.get(), sizeof(Clock), 1);
  pool(*all); everywhere = workers + 3; global(); body(workers);
  return sum == 12345;
}
)code";

const char* const kHeapObjectsInC = R"code(
#include <stdlib.h>
struct list { struct list* next; struct list* previous; };
struct counter { long hits, misses; };
struct shard { struct counter counters[3]; _Alignas(64) unsigned long lock; int owner; };
struct job { struct list link; void (*run)(struct job*); struct shard* shard; union { long number; struct counter* counter; } u; char name[16]; };
struct buffer { unsigned long used; unsigned char bytes[]; };
#define NOINLINE __attribute__((noinline))
NOINLINE void count(struct shard* shards, int n, int kind) { for (int i = 0; i < n; i++) { shards[i].counters[kind].hits++; shards[i].counters[kind].misses += i; } }
NOINLINE void lock(struct shard* shard) { while (__atomic_exchange_n(&shard->lock, 1, __ATOMIC_ACQUIRE)) {} shard->owner = 3; __atomic_store_n(&shard->lock, 0, __ATOMIC_RELEASE); }
NOINLINE void run(struct job* job) { lock(job->shard); job->u.counter->hits += 2; job->name[3] = 'x'; }
NOINLINE void push(struct list* head, struct job* job) { job->link.next = head->next; job->link.previous = head; head->next = &job->link; }
NOINLINE long all(struct list* head) { long sum = 0; for (struct list* at = head->next; at; at = at->next) { struct job* job = (struct job*)at; job->run(job); sum += job->u.counter->hits; } return sum; }
NOINLINE void append(struct buffer* buffer, int byte) { buffer->bytes[buffer->used++] = (unsigned char)byte; }
NOINLINE void* body(void* argument) { struct counter* counter = argument; for (int i = 0; i < 5; i++) { counter->hits++; __atomic_fetch_add(&counter->misses, 1, __ATOMIC_RELAXED); } return argument; }
static struct shard* find(struct shard* shards, int n, int owner) { for (int i = 0; i < n; i++) if (shards[i].owner == owner) return &shards[i]; return 0; }
NOINLINE int seek(struct shard* shards, int n, int owner) { struct shard* found = find(shards, n, owner); if (!found) return 0; found->owner++; return (int)found->counters[1].hits; }
NOINLINE void matrix(struct counter (*rows)[4], int n) { for (int i = 0; i < n; i++) for (int k = 0; k < 4; k++) rows[i][k].misses = k; }
struct shard* everywhere;
NOINLINE void global(int i) { everywhere[i].counters[2].misses++; }
int main(void) {
  struct shard* shards = aligned_alloc(64, 4 * sizeof *shards); note("shard|counter", shards, sizeof *shards, 4);
  for (int i = 0; i < 4; i++) { shards[i].owner = i; shards[i].lock = 0; }
  struct counter* counter = calloc(1, sizeof *counter); note("counter", counter, sizeof *counter, 1);
  struct list head = {0, 0};
  for (int i = 0; i < 3; i++) {
    struct job* job = malloc(sizeof *job); note("job|list", job, sizeof *job, 1);
    job->run = run; job->shard = shards + i; job->u.counter = counter; push(&head, job);
  }
  count(shards, 4, 1); all(&head); body(counter); seek(shards, 4, 2); everywhere = shards; global(3);
  struct buffer* buffer = malloc(sizeof *buffer + 32); note("buffer", buffer, sizeof *buffer + 32, 1);
  buffer->used = 0; for (int i = 0; i < 4; i++) append(buffer, i);
  struct counter(*rows)[4] = malloc(2 * sizeof *rows); note("counter|counter[4]", rows, sizeof **rows, 8); matrix(rows, 2);
  return 0;
}
)code";

const char* const kContainersInC = R"code(
#include <stddef.h>
#include <stdlib.h>
#define NOINLINE __attribute__((noinline))
#define KEEP() __asm__ volatile("" ::: "memory")
struct link { struct link *next, *previous; };
struct timer { long fired; struct link link; int period, left; long owner; };
struct slot { unsigned short next, owner; unsigned visits; double weight; };
struct arena { unsigned long length; unsigned first, rounds; struct slot slots[]; };
NOINLINE void fire(struct timer* timer, int by) { timer->fired += by; }
NOINLINE void tick(struct link* head) {
  for (struct link* entry = head->next; entry != head; entry = entry->next) {
    struct timer* timer = (struct timer*)((char*)entry - offsetof(struct timer, link));
    timer->left--;
    KEEP();
    if (timer->left > 0) continue;
    timer->left = timer->period;
    timer->owner++;
    fire(timer, 1);
  }
}
NOINLINE unsigned walk(struct arena* arena) {
  unsigned steps = 0;
  for (unsigned at = arena->first; at != 0xffff; at = arena->slots[at].next) {
    arena->slots[at].visits++;
    KEEP();
    arena->slots[at].weight += 0.5;
    steps++;
  }
  arena->rounds++;
  return steps;
}
int main(void) {
  static struct link head = {&head, &head};
  for (int i = 0; i < 6; i++) {
    struct timer* timer = calloc(1, sizeof *timer);
    note("timer|link", timer, sizeof *timer, 1);
    timer->period = timer->left = 1 + i % 2;
    timer->link.next = &head; timer->link.previous = head.previous;
    head.previous->next = &timer->link; head.previous = &timer->link;
  }
  unsigned long size = sizeof(struct arena) + 8 * sizeof(struct slot);
  struct arena* arena = calloc(1, size);
  note("arena|slot", arena, size, 1);
  for (int i = 0; i < 8; i++) arena->slots[i].next = i == 7 ? 0xffff : (unsigned short)(i + 1);
  tick(&head); tick(&head);
  return walk(arena) == 8 ? 0 : 1;
}
)code";

const char* const kHeapObjectsInRust = R"code(
use std::sync::atomic::{AtomicU64, Ordering};
pub struct Counter { pub hits: AtomicU64, pub last: u64 }
pub struct Shard { pub id: u32, pub counters: [Counter; 2], pub next: Option<Box<Shard>>, pub values: Vec<u64> }
#[no_mangle] #[inline(never)]
pub extern "C" fn note(name: *const u8, object: *const u8, size: usize, count: usize) { std::hint::black_box((name, object, size, count)); }
impl Counter {
    #[inline(never)] fn hit(&self) -> u64 { self.hits.fetch_add(1, Ordering::Relaxed) }
    #[inline(never)] fn set(&mut self, to: u64) { self.last = to; }
}
#[inline(never)] fn walk(mut shard: &Shard) -> u64 { let mut sum = 0; loop { sum += shard.id as u64 + shard.counters[1].last; match &shard.next { Some(next) => shard = next, None => return sum } } }
#[inline(never)] fn each(shards: &mut [Shard]) { for shard in shards.iter_mut() { shard.counters[0].last += 1; shard.id += 1; } }
#[inline(never)] fn boxed(mut shard: Box<Shard>) -> Box<Shard> { shard.id = 7; shard.counters[1].hits.fetch_add(3, Ordering::SeqCst); shard }
fn main() {
    let inner = Box::new(Shard { id: 1, counters: [Counter { hits: AtomicU64::new(0), last: 2 }, Counter { hits: AtomicU64::new(0), last: 3 }], next: None, values: vec![1] });
    note(b"program::Shard|program::Counter\0".as_ptr(), &*inner as *const Shard as *const u8, std::mem::size_of::<Shard>(), 1);
    let outer = Box::new(Shard { id: 2, counters: [Counter { hits: AtomicU64::new(0), last: 2 }, Counter { hits: AtomicU64::new(0), last: 3 }], next: Some(inner), values: vec![] });
    note(b"program::Shard|program::Counter\0".as_ptr(), &*outer as *const Shard as *const u8, std::mem::size_of::<Shard>(), 1);
    let mut outer = boxed(outer);
    outer.counters[0].hit(); outer.counters[1].set(9);
    each(std::slice::from_mut(&mut *outer));
    std::hint::black_box(walk(&outer));
}
)code";

}  // namespace cacheline::inference::test
