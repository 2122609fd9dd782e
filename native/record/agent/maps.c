/* What is mapped in this process, as far as it is recorded. Nobody tells of most mappings: the dynamic
   loader's, malloc's, the stacks of threads. So a sample whose registers point to memory that is not recorded
   reads /proc/self/maps, there and then, and records what is new: that cannot miss what a sample needs.
   Reading is limited to a small share of the time, since a register that looks like an address may be none.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/agent/sampler.h"

#define MOST 4096u
#define LOWEST 0x10000u         /* no address: vm.mmap_min_addr */
#define SHARE 200u              /* reading takes 1 in so many parts of the time, */
#define BURST 2000000           /* and so many ns at once */
#define LEAST_BACKOFF 10000000u /* ns between readings that only guess, where the last one found nothing */
#define MOST_BACKOFF 100000000u

struct range {
  _Atomic uint64_t start, end;
  _Atomic uint64_t what; /* hash of all that is recorded of it */
  _Atomic uint64_t executable;
};
struct known {
  _Atomic uint32_t count;
  struct range ranges[MOST];
};
/* The set of the last reading is looked at by every thread while the next reading writes the other one: the
   set of reading n is whole as long as `readings` is n. Who looks reads `readings` before and afterwards; if
   it has changed, what was found may be a mixture, and counts as not found. So that costs a reading which was
   not needed, and never hides one that was. */
static struct known known[2];
static _Atomic uint32_t readings;
static atomic_int reading; /* 1: a thread reads. The others do not wait for it. */
static atomic_int code_is_stale, data_is_stale;
/* Written by the one that reads. The first three are looked at by all, each alone: an old value of one beside
   a new one of another moves a guess by one reading. */
static _Atomic int64_t budget = BURST;
static _Atomic uint64_t last_reading, next_guess;
static uint64_t backoff;

static char buffer[16384];
static char line[8192]; /* a path of PATH_MAX with each byte escaped does not fit: such a mapping is lost */

/* The values of these are put in order by `readings` and `reading`. */
#define GET(place) atomic_load_explicit(&(place), memory_order_relaxed)
#define SET(place, value) atomic_store_explicit(&(place), value, memory_order_relaxed)

static const struct range* find(const struct known* set, uint64_t address) {
  const uint32_t count = GET(set->count);
  uint32_t low = 0, high = count <= MOST ? count : 0;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (GET(set->ranges[middle].end) <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low >= MOST || low >= count || GET(set->ranges[low].start) > address) return NULL;
  return &set->ranges[low];
}

/* Whether the n-th reading, if it is the last one still, found something there. */
static int is_known(uint32_t n, uint64_t address, int as_code) {
  const struct range* range = find(&known[n & 1], address);
  const int found = range != NULL && (!as_code || GET(range->executable));
  atomic_thread_fence(memory_order_acquire);
  return found && GET(readings) == n;
}

static uint64_t hash_of(const struct mapping* map) {
  const uint64_t parts[] = {map->start, map->end,   map->offset,     map->inode,
                            map->major, map->minor, map->protection, map->flags};
  uint64_t hash = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    hash = ((hash ^ parts[i]) * 0x9e3779b97f4a7c15ull) ^ (hash >> 29);
  for (const char* at = map->name; *at != 0; at++) hash = (hash ^ (unsigned char)*at) * 0x100000001b3ull;
  return hash;
}

static uint64_t number(const char** at, unsigned base) {
  uint64_t value = 0;
  for (;; ++*at) {
    const char c = **at;
    const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                                                  : 99;
    if (digit >= base) return value;
    value = value * base + digit;
  }
}

/* The kernel writes a newline in a path as \012 (proc(5)). */
static void unescape(char* text) {
  char* to = text;
  for (const char* from = text; *from != 0;)
    if (memcmp(from, "\\012", 4) == 0) {
      *to++ = '\n';
      from += 4;
    } else {
      *to++ = *from++;
    }
  *to = 0;
}

/* "start-end rwxp offset major:minor inode   name". False for what nobody can access. */
static int parse(char* text, struct mapping* map) {
  const char* at = text;
  map->start = number(&at, 16);
  at++;
  map->end = number(&at, 16);
  at++;
  if (strnlen(at, 5) < 5) return 0;
  map->protection =
      (at[0] == 'r' ? PROT_READ : 0u) | (at[1] == 'w' ? PROT_WRITE : 0u) | (at[2] == 'x' ? PROT_EXEC : 0u);
  map->flags = at[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
  at += 5;
  map->offset = number(&at, 16);
  at++;
  map->major = (uint32_t)number(&at, 16);
  at++;
  map->minor = (uint32_t)number(&at, 16);
  at++;
  map->inode = number(&at, 10);
  while (*at == ' ') at++;
  char* name = text + (at - text);
  unescape(name);
  /* As perf events call it. */
  const int anonymous = *name == 0 || strncmp(name, "[anon", 5) == 0;
  map->name = anonymous ? "//anon" : strncmp(name, "[stack", 6) == 0 ? "[stack]" : name;
  return map->protection != 0 && map->start < map->end;
}

/* Adds it to `next`, and records it where `before`, whose ranges come in the same order, does not have it. */
static int take(struct known* next, const struct known* before, uint32_t* at, const struct mapping* map,
                uint64_t time) {
  const uint64_t what = hash_of(map);
  while (*at < GET(before->count) && GET(before->ranges[*at].end) <= map->start) ++*at;
  const struct range* old = *at < GET(before->count) ? &before->ranges[*at] : NULL;
  const int is_new = old == NULL || GET(old->start) != map->start || GET(old->what) != what;
  const uint32_t count = GET(next->count);
  if (count == MOST || (is_new && !put_mapping(map, time))) {
    __atomic_fetch_add(&process.file->lost_mappings, 1, __ATOMIC_RELAXED);
    return 0;
  }
  struct range* range = &next->ranges[count];
  SET(range->start, map->start);
  SET(range->end, map->end);
  SET(range->what, what);
  SET(range->executable, map->protection & PROT_EXEC);
  SET(next->count, count + 1);
  return is_new;
}

/* The number of mappings that were new, -1 where they cannot be read. */
static int read_all(struct known* next, const struct known* before, uint64_t time) {
  const int fd = (int)direct(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return -1;
  int found = 0;
  uint32_t at = 0;
  size_t length = 0;
  SET(next->count, 0);
  for (;;) {
    const ssize_t count = (ssize_t)direct(SYS_read, fd, buffer, sizeof buffer);
    if (count <= 0) break;
    for (ssize_t i = 0; i < count; i++) {
      if (buffer[i] != '\n') {
        if (length < sizeof line - 1) line[length++] = buffer[i];
        continue;
      }
      line[length] = 0;
      length = 0;
      struct mapping map;
      if (parse(line, &map)) found += take(next, before, &at, &map, time);
    }
  }
  direct(SYS_close, fd);
  return found;
}

static int64_t earned(uint64_t time) {
  const uint64_t last = GET(last_reading);
  return time > last ? (int64_t)((time - last) / SHARE) : 0;
}

void maps_record(uint64_t time) {
  if (atomic_exchange_explicit(&reading, 1, memory_order_acquire) != 0) return;
  atomic_store(&code_is_stale, 0); /* before the kernel is asked: what changes from now on needs another */
  atomic_store(&data_is_stale, 0);
  const uint32_t n = GET(readings);
  /* Who sees anything of what is now written over sees that `readings` has left it behind. */
  atomic_thread_fence(memory_order_release);
  const int found = read_all(&known[(n + 1) & 1], &known[n & 1], time);
  if (found >= 0)
    atomic_store_explicit(&readings, n + 1, memory_order_release);
  else
    __atomic_fetch_add(&process.file->lost_mappings, 1, __ATOMIC_RELAXED);
  const uint64_t end = now_ns();
  const int64_t cost = end - time < BURST ? (int64_t)(end - time) : BURST; /* it may have had to wait */
  const int64_t had = GET(budget) + earned(time);
  SET(budget, (had < BURST ? had : BURST) - cost);
  SET(last_reading, end);
  backoff = found > 0                    ? 0
            : backoff == 0               ? LEAST_BACKOFF
            : backoff < MOST_BACKOFF / 2 ? backoff * 2
                                         : MOST_BACKOFF;
  SET(next_guess, end + backoff);
  atomic_store_explicit(&reading, 0, memory_order_release);
}

void maps_look(uint64_t ip, const uint64_t* registers, uint32_t count, uint64_t time) {
  const uint32_t n = atomic_load_explicit(&readings, memory_order_acquire);
  if (UNLIKELY(!is_known(n, ip, 1) || atomic_load(&code_is_stale))) return maps_record(time);
  if (GET(budget) + earned(time) <= 0) return;
  if (atomic_load(&data_is_stale)) return maps_record(time);
  if (time < GET(next_guess)) return;
  for (uint32_t i = 0; i < count; i++)
    if (registers[i] >= LOWEST && registers[i] >> 47 == 0 && !is_known(n, registers[i], 0))
      return maps_record(time);
}

/* Another thread of the parent may have been reading. */
void maps_forked(void) {
  atomic_store_explicit(&reading, 0, memory_order_relaxed);
}

void maps_stale(int code) {
  atomic_store(code ? &code_is_stale : &data_is_stale, 1);
}
