// What the agent records of real programs, held against what the programs say themselves.
#include <gtest/gtest.h>

#include <set>

#include "agent_run.h"

namespace cacheline::heap::test {
namespace {

/// Lines of "address size time": at that time the block is there, with that size, from its first to its last
/// byte.
void expectBlocks(const AgentRun& run, uint32_t pid) {
  for (const auto& line : run.lines) {
    ASSERT_EQ(line.size(), 3u) << run.output;
    const Block* block = run.heap->find(pid, line[0], line[2]);
    ASSERT_NE(block, nullptr) << std::hex << line[0] << " of " << std::dec << line[1] << " bytes";
    EXPECT_EQ(block->address, line[0]);
    EXPECT_EQ(block->size, line[1]);
    EXPECT_EQ(run.heap->find(pid, line[0] + line[1] - 1, line[2]), block);
  }
}

/// The process id is the first line's, which is taken away.
uint32_t takePid(AgentRun& run) {
  const auto pid = static_cast<uint32_t>(run.lines.at(0).at(0));
  run.lines.erase(run.lines.begin());
  return pid;
}

TEST(Agent, RecordsEveryFunctionThatAllocates) {
  AgentRun run;
  run.run(run.compile(program(R"(
int main() {
  say(getpid(), 0, 0);
  void* p;
  p = malloc(100), say(ADDRESS(p), 100, now());
  p = calloc(10, 20), say(ADDRESS(p), 200, now());
  p = realloc(malloc(64), 5000), say(ADDRESS(p), 5000, now());
  p = realloc(NULL, 300), say(ADDRESS(p), 300, now());
  p = reallocarray(NULL, 7, 100), say(ADDRESS(p), 700, now());
  p = aligned_alloc(256, 512), say(ADDRESS(p), 512, now());
  if (posix_memalign(&p, 64, 192)) return 1;
  say(ADDRESS(p), 192, now());
  p = memalign(128, 400), say(ADDRESS(p), 400, now());
  p = valloc(600), say(ADDRESS(p), 600, now());
  p = pvalloc(600), say(ADDRESS(p), 4096, now());
  p = malloc(1 << 20), say(ADDRESS(p), 1 << 20, now());
  p = malloc(24), say(ADDRESS(p), 24, now());
  p = strdup("a text that is longer than sixty-four characters, so that it counts as large"), say(ADDRESS(p), 77, now());
  p = mmap(NULL, 40960, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), say(ADDRESS(p), 40960, now());
  p = mremap(p, 40960, 81920, MREMAP_MAYMOVE), say(ADDRESS(p), 81920, now());
})")));
  ASSERT_EQ(run.status, 0) << run.output;
  const uint32_t pid = takePid(run);
  ASSERT_EQ(run.lines.size(), 15u);
  expectBlocks(run, pid);
  EXPECT_EQ(run.counts.processes, 1u);
  EXPECT_EQ(run.counts.lost, 0u);
  EXPECT_TRUE(run.heap->find(pid, run.lines.back()[0], run.lines.back()[2])->mapping);
}

TEST(Agent, RecordsEveryWayToFree) {
  AgentRun run;
  run.run(run.compile(program(R"(
#include <dlfcn.h>
int main() {
  unsigned long before;
  say(getpid(), 0, 0);
  char* p = malloc(100);
  before = now(), free(p), say(ADDRESS(p), before, now());
  char* q = malloc(3000);
  char* last = malloc(3000);
  before = now(), realloc(q, 1000000), say(ADDRESS(q), before, now());
  char* m = mmap(NULL, 40960, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  before = now(), munmap(m, 40960), say(ADDRESS(m), before, now());
  char* s = malloc(72);
  before = now(), realloc(s, 0), say(ADDRESS(s), before, now());
  char* t = malloc(24);
  before = now(), free(t), say(ADDRESS(t), before, now());
  char* u = malloc(88);  // a function of C23 that this libc need not have: the agent does
  void (*sized)(void*, size_t) = (void (*)(void*, size_t))dlsym(RTLD_DEFAULT, "free_sized");
  before = now(), sized(u, 88), say(ADDRESS(u), before, now());
})"),
                      "-O0 -fno-builtin"));
  ASSERT_EQ(run.status, 0) << run.output;
  const uint32_t pid = takePid(run);
  ASSERT_EQ(run.lines.size(), 6u) << run.output;
  for (const auto& line : run.lines) {
    const Block* block = run.heap->find(pid, line[0], line[1]);
    ASSERT_NE(block, nullptr) << line[0];
    EXPECT_GE(block->freed, line[1]);
    EXPECT_LE(block->freed, line[2]);
    EXPECT_EQ(run.heap->find(pid, line[0], line[2]), nullptr) << line[0];
  }
}

TEST(Agent, RecordsOperatorNewInAllItsForms) {
  AgentRun run;
  run.run(run.compile(R"(
#include <new>
#include <memory>
#include <vector>
#include <map>
)" + program(R"(
struct alignas(128) Line { long words[16]; };
struct Thing { long words[12]; };
int main() {
  say(getpid(), 0, 0);
  auto* a = new Thing; say(ADDRESS(a), 96, now());
  auto* b = new char[333]; say(ADDRESS(b), 333, now());
  auto* c = new Line; say(ADDRESS(c), 128, now());
  auto* d = new (std::nothrow) Thing; say(ADDRESS(d), 96, now());
  std::vector<Thing> things(8); say(ADDRESS(things.data()), 768, now());
  auto shared = std::make_unique<Thing[]>(3); say(ADDRESS(shared.get()), 288, now());
  delete a; delete[] b; delete c; delete d;
})"),
                      "-O1 -std=c++20", true));
  ASSERT_EQ(run.status, 0) << run.output;
  const uint32_t pid = takePid(run);
  ASSERT_EQ(run.lines.size(), 6u);
  expectBlocks(run, pid);
  EXPECT_EQ(run.heap->find(pid, run.lines[0][0], run.lines[5][2] + 1'000'000'000), nullptr) << "deleted";
}

TEST(Agent, AFailedAllocationIsAsItWasAndRecordsNothing) {
  AgentRun run;
  run.run(run.compile(program(R"(
#include <errno.h>
int main() {
  say(getpid(), 0, 0);
  char* p = malloc(100);
  errno = 0;
  void* r = realloc(p, (size_t)1 << 62);
  say(r == NULL, errno == ENOMEM, ADDRESS(p));
  errno = 0;
  void* m = malloc((size_t)1 << 62);
  say(m == NULL, errno == ENOMEM, now());
  errno = 5;
  for (int i = 0; i < 100000; i++) malloc(70);
  int kept = errno;
  say(kept, calloc((size_t)1 << 40, (size_t)1 << 40) == NULL, 0);
})"),
                      "-O0"));
  ASSERT_EQ(run.status, 0) << run.output;
  const uint32_t pid = takePid(run);
  EXPECT_EQ(run.lines[0][0], 1u);
  EXPECT_EQ(run.lines[0][1], 1u);
  EXPECT_EQ(run.lines[1][0], 1u);
  EXPECT_EQ(run.lines[1][1], 1u);
  EXPECT_EQ(run.lines[2][0], 5u) << "errno";
  EXPECT_EQ(run.lines[2][1], 1u);
  const Block* block = run.heap->find(pid, run.lines[0][2], run.lines[1][2]);
  ASSERT_NE(block, nullptr) << "the old block lives on";
  EXPECT_EQ(block->address, run.lines[0][2]);
}

TEST(Agent, ThreadsThatFreeOneAnothersBlocks) {
  AgentRun run;
  run.run(run.compile(program(R"(
static void* volatile slots[64];
static pthread_barrier_t barrier;
static void* work(void* argument) {
  long number = (long)argument;
  for (int i = 0; i < 500; i++) {
    void* mine = malloc(64 + number);
    memset(mine, 1, 64);
    void* other = __atomic_exchange_n(&slots[(number + i) % 64], mine, __ATOMIC_ACQ_REL);
    free(other);
  }
  pthread_barrier_wait(&barrier);
  free(__atomic_exchange_n(&slots[number], malloc(64 + number), __ATOMIC_ACQ_REL));
  return 0;
}
int main() {
  say(getpid(), 0, 0);
  pthread_barrier_init(&barrier, 0, 64);
  pthread_t ids[64];
  for (int round = 0; round < 3; round++) {
    for (long i = 0; i < 64; i++) pthread_create(&ids[i], 0, work, (void*)i);
    for (long i = 0; i < 64; i++) pthread_join(ids[i], 0);
  }
  for (int i = 0; i < 64; i++) say(ADDRESS(slots[i]), malloc_usable_size(slots[i]), now());
  for (int i = 0; i < 64; i++) free(slots[i]);
})")));
  ASSERT_EQ(run.status, 0) << run.output;
  const uint32_t pid = takePid(run);
  ASSERT_EQ(run.lines.size(), 64u);
  std::set<uint32_t> threads;
  for (const auto& line : run.lines) {
    const Block* block = run.heap->find(pid, line[0], line[2]);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(block->address, line[0]);
    EXPECT_EQ(block->size, 64 + threads.size());
    threads.insert(block->tid);
    EXPECT_EQ(run.heap->find(pid, line[0], run.lines.back()[2] + 1'000'000'000), nullptr)
        << "freed at the end";
  }
  EXPECT_EQ(threads.size(), 64u);
  EXPECT_EQ(run.counts.lost, 0u);
  EXPECT_GE(run.counts.blocks, 3u * 64 * 500);
}

/// Whether malloc was called in the 256 bytes from a function's start on.
bool isCalledFrom(const AgentRun& run, const Block& block, uint64_t function) {
  const std::vector<uint64_t>& stack = run.heap->stack(block.stack);
  return !stack.empty() && stack.front() - function < 256;
}

/// The usual case of false sharing: two small blocks on a cache line, from two places of the program.
TEST(Agent, BothOfTwoSmallBlocksSideBySideAreRecorded) {
  AgentRun run;
  run.limits = RecordingLimits{};
  run.run(run.compile(program(R"(
#define ALONE __attribute__((noinline, aligned(256)))
ALONE static void make_counter(void) { void* p = malloc(16); say(ADDRESS(p), 16, now()); }
ALONE static void make_flag(void) { void* p = malloc(24); say(ADDRESS(p), 24, now()); }
static void* work(void* unused) { make_counter(), make_flag(); return 0; }
int main() {
  say(getpid(), ADDRESS(make_counter), ADDRESS(make_flag));
  for (int i = 0; i < 100; i++) {
    pthread_t id;
    pthread_create(&id, 0, work, 0);
    pthread_join(id, 0);
  }
})")));
  ASSERT_EQ(run.status, 0) << run.output;
  const uint64_t counter = run.lines.at(0).at(1), flag = run.lines.at(0).at(2);
  const uint32_t pid = takePid(run);
  ASSERT_EQ(run.lines.size(), 200u);
  expectBlocks(run, pid);
  for (const auto& line : run.lines) {
    const Block* block = run.heap->find(pid, line[0], line[2]);
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(isCalledFrom(run, *block, counter), line[1] == 16);
    EXPECT_EQ(isCalledFrom(run, *block, flag), line[1] == 24);
  }
  EXPECT_EQ(run.counts.lost, 0u);
}

TEST(Agent, SmallBlocksBeyondTheirBudgetLeaveThatOfLargeOnesAlone) {
  AgentRun run;
  run.limits.sampling = 16;
  run.limits.rate = 1;
  run.limits.burst = 4000;  // half of it, of small ones
  run.run(run.compile(program(R"(
int main() {
  say(getpid(), 0, 0);
  for (int i = 0; i < 40000; i++) { void* p = malloc(40); say(ADDRESS(p), 40, now()); }
  for (int i = 0; i < 1000; i++) { void* p = malloc(64 + i); say(ADDRESS(p), 64 + i, now()); }
})")));
  ASSERT_EQ(run.status, 0);
  const uint32_t pid = takePid(run);
  size_t first = 0, small = 0, large = 0;
  for (size_t i = 0; i < run.lines.size(); i++) {
    const Block* block = run.heap->find(pid, run.lines[i][0], run.lines[i][2]);
    if (block == nullptr || block->address != run.lines[i][0]) continue;
    (run.lines[i][1] < 64 ? small : large)++;
    if (i < 1900) first++;
  }
  EXPECT_EQ(first, 1900u) << "all, while there is a budget";
  EXPECT_LE(small, 2000u);
  EXPECT_EQ(large, 1000u);
  EXPECT_EQ(run.counts.lost, run.counts.lostRate);
  EXPECT_GE(run.counts.blocks + run.counts.lost, 41'000u) << "all others are counted";
  EXPECT_LT(run.counts.blocks + run.counts.lost, 41'100u);
}

/// A KiB has 32 of the smallest, more than its cache line of the table has places.
TEST(Agent, AllSmallBlocksAreRecordedWhereAllAreAskedFor) {
  AgentRun run;
  run.run(run.compile(program(R"(
static void* blocks[4][1000];
int main() {
  say(getpid(), 0, 0);
  for (int round = 0; round < 2; round++) {
    for (int size = 0; size < 4; size++)
      for (int i = 0; i < 1000; i++) blocks[size][i] = malloc(16 + 8 * size);
    for (int size = 0; size < 4; size++)
      for (int i = 0; i < 1000; i++) say(ADDRESS(blocks[size][i]), 16 + 8 * size, now());
    if (round == 0)
      for (int size = 0; size < 4; size++)
        for (int i = 0; i < 1000; i++) free(blocks[size][i]);
  }
  say(0, 0, now());
  for (int i = 0; i < 1000; i++) free(blocks[0][i]);
})"),
                      "-O0"));
  ASSERT_EQ(run.status, 0) << run.output;
  const uint32_t pid = takePid(run);
  const uint64_t end = run.lines.back()[2] + 1'000'000'000;
  run.lines.pop_back();
  ASSERT_EQ(run.lines.size(), 8000u);
  expectBlocks(run, pid);
  EXPECT_EQ(run.counts.lost, run.counts.lostRate);
  EXPECT_EQ(run.counts.lostTable, 0u);
  for (size_t i = 4000; i < 5000; i++)
    EXPECT_EQ(run.heap->find(pid, run.lines[i][0], end), nullptr) << "freed";
  for (size_t i = 5000; i < 8000; i++)
    EXPECT_NE(run.heap->find(pid, run.lines[i][0], end), nullptr) << "kept";
}

/// With a budget this low small blocks are sampled from the first one on.
TEST(Agent, SamplingIsNotInStepWithTheProgram) {
  AgentRun run;
  run.limits.sampling = 16;
  run.limits.rate = 1;
  run.limits.burst = 2000;  // half of it, of small ones
  run.run(run.compile(program(R"(
int main() {
  say(getpid(), 0, 0);
  for (int i = 0; i < 12800; i++) {
    int size = i % 16 ? 24 : 40;
    void* p = malloc(size);
    say(ADDRESS(p), size, now());
  }
})")));
  ASSERT_EQ(run.status, 0);
  const uint32_t pid = takePid(run);
  size_t all = 0, rare = 0;
  for (const auto& line : run.lines) {
    const Block* block = run.heap->find(pid, line[0], line[2]);
    if (block == nullptr || block->address != line[0]) continue;
    all++;
    rare += line[1] == 40 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(all), 800, 100);  // 6 sigma and more
  EXPECT_NEAR(static_cast<double>(rare), 50, 42);
  EXPECT_GE(run.counts.blocks + run.counts.lost, 12'800u);
  EXPECT_LT(run.counts.blocks + run.counts.lost, 12'900u);
}

TEST(Agent, BlocksAboveTheRateAreCountedAsLost) {
  AgentRun run;
  run.limits.rate = 1000;
  run.limits.burst = 500;
  run.run(run.compile(program(R"(
int main() {
  void* volatile p;
  for (int i = 0; i < 200000; i++) { p = malloc(100); free(p); }
})"),
                      "-O0"));
  ASSERT_EQ(run.status, 0);
  EXPECT_GE(run.counts.blocks, 500u);
  EXPECT_LT(run.counts.blocks, 5000u);
  EXPECT_GE(run.counts.blocks + run.counts.lost, 200'000u);
  EXPECT_LT(run.counts.blocks + run.counts.lost, 200'100u);
  EXPECT_EQ(run.counts.lostRate, run.counts.lost);
  EXPECT_FALSE(run.counts.limitReached);
}

TEST(Agent, WhenTheFileIsFullBlocksAreLostButFreesAreNot) {
  AgentRun run;
  run.limits.fileBytes = 1 << 20;
  run.limits.burst = 100'000;
  run.run(run.compile(program(R"(
int main() {
  say(getpid(), 0, 0);
  static void* blocks[40000];
  for (int i = 0; i < 40000; i++) blocks[i] = malloc(100);
  say(ADDRESS(blocks[0]), 100, now());
  say(ADDRESS(blocks[100]), 100, now());
  for (int i = 0; i < 40000; i++) free(blocks[i]);
})")));
  ASSERT_EQ(run.status, 0);
  const uint32_t pid = takePid(run);
  expectBlocks(run, pid);
  EXPECT_GT(run.counts.blocks, 20'000u);
  EXPECT_GT(run.counts.lost, 1000u);
  EXPECT_EQ(run.counts.lostRate, 0u);
  EXPECT_TRUE(run.counts.limitReached);
  EXPECT_FALSE(run.counts.diskFull);
  EXPECT_GE(run.counts.blocks + run.counts.lost, 40'000u);
  EXPECT_EQ(run.heap->find(pid, run.lines[0][0], run.lines[1][2] + 1'000'000'000), nullptr);
}

}  // namespace
}  // namespace cacheline::heap::test
