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
  uint64_t start, end;
  uint64_t what; /* hash of all that is recorded of it */
  uint64_t executable;
};
struct known {
  uint32_t count;
  struct range ranges[MOST];
};
/* One is read by every thread while another is written, by one thread at a time. A thread that reads while
   both were replaced sees a mixture, and at worst asks for a reading that was not needed. */
static struct known known[2];
static _Atomic uint32_t current;
static atomic_int reading;
static _Atomic int code_is_stale, data_is_stale;
/* Written by the one that reads. */
static int64_t budget = BURST;
static uint64_t last_reading, next_guess, backoff;

static char buffer[16384];
static char line[8192]; /* a path of PATH_MAX with each byte escaped does not fit: such a mapping is lost */

static const struct range* find(const struct known* set, uint64_t address) {
  uint32_t low = 0, high = set->count <= MOST ? set->count : 0;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (set->ranges[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (low >= MOST || low >= set->count || set->ranges[low].start > address) return NULL;
  return &set->ranges[low];
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
  while (*at < before->count && before->ranges[*at].end <= map->start) ++*at;
  const struct range* old = *at < before->count ? &before->ranges[*at] : NULL;
  const int is_new = old == NULL || old->start != map->start || old->what != what;
  if (next->count == MOST || (is_new && !put_mapping(map, time))) {
    __atomic_fetch_add(&process.file->lost_mappings, 1, __ATOMIC_RELAXED);
    return 0;
  }
  next->ranges[next->count++] = (struct range){map->start, map->end, what, map->protection & PROT_EXEC};
  return is_new;
}

/* The number of mappings that were new, -1 where they cannot be read. */
static int read_all(struct known* next, const struct known* before, uint64_t time) {
  const int fd = (int)direct(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return -1;
  int found = 0;
  uint32_t at = 0;
  size_t length = 0;
  next->count = 0;
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
  return time > last_reading ? (int64_t)((time - last_reading) / SHARE) : 0;
}

void maps_record(uint64_t time) {
  if (atomic_exchange(&reading, 1) != 0) return;
  atomic_store(&code_is_stale, 0);
  atomic_store(&data_is_stale, 0);
  const uint32_t old = atomic_load(&current);
  const int found = read_all(&known[!old], &known[old], time);
  if (found >= 0)
    atomic_store(&current, !old);
  else
    __atomic_fetch_add(&process.file->lost_mappings, 1, __ATOMIC_RELAXED);
  const uint64_t end = now_ns();
  const int64_t cost = end - time < BURST ? (int64_t)(end - time) : BURST; /* it may have had to wait */
  budget += earned(time);
  budget = (budget < BURST ? budget : BURST) - cost;
  last_reading = end;
  backoff = found > 0                    ? 0
            : backoff == 0               ? LEAST_BACKOFF
            : backoff < MOST_BACKOFF / 2 ? backoff * 2
                                         : MOST_BACKOFF;
  next_guess = end + backoff;
  atomic_store(&reading, 0);
}

void maps_look(uint64_t ip, const uint64_t* registers, uint32_t count, uint64_t time) {
  const struct known* now = &known[atomic_load_explicit(&current, memory_order_acquire)];
  const struct range* code = find(now, ip);
  if (UNLIKELY(code == NULL || !code->executable || atomic_load(&code_is_stale))) return maps_record(time);
  if (budget + earned(time) <= 0) return;
  if (atomic_load(&data_is_stale)) return maps_record(time);
  if (time < next_guess) return;
  for (uint32_t i = 0; i < count; i++)
    if (registers[i] >= LOWEST && registers[i] >> 47 == 0 && find(now, registers[i]) == NULL)
      return maps_record(time);
}

/* Another thread of the parent may have been reading. */
void maps_forked(void) {
  atomic_store(&reading, 0);
}

void maps_stale(int code) {
  atomic_store(code ? &code_is_stale : &data_is_stale, 1);
}
