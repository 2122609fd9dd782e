// The agent's call chains against those of libgcc's unwinder, which is slow and thorough.
#include <gtest/gtest.h>

#include "agent_run.h"

namespace cacheline::heap::test {
namespace {

/// Prints "address time, frames…" where frames are what backtrace() says in the function that allocates: the
/// first is in that function itself, the others are its callers.
const char* const kChains = R"(
#include <execinfo.h>
#define NOINLINE __attribute__((noinline, noclone))
static void* volatile sink;
NOINLINE void* make(size_t size) {
  void* frames[32];
  backtrace(frames, 1);  // it loads libgcc in its first call
  void* block = malloc(size);
  int count = backtrace(frames, 32);
  unsigned long time = now();
  printf("%lu %lu", ADDRESS(block), time);
  for (int i = 0; i < count; i++) printf(" %lu", ADDRESS(frames[i]));
  printf("\n");
  fflush(stdout);
  return sink = block;
}
NOINLINE void* recursive(int depth) {
  volatile char room[24] = {(char)depth};
  void* block = depth == 0 ? make(80) : recursive(depth - 1);
  room[1] = 1;
  return block;
}
NOINLINE void* with_alloca(int size) {
  volatile char* room = __builtin_alloca(size);
  room[size - 1] = 1;
  void* block = make(100);
  room[0] = 2;
  return block;
}
NOINLINE void* aligned(int seed) {
  volatile long room[8] __attribute__((aligned(64))) = {seed};
  void* block = make(120);
  room[3] = 4;
  return block;
}
NOINLINE int compare(const void* a, const void* b) {
  make(140);
  return 0;
}
static void* on_thread(void* argument) {
  recursive(2);
  with_alloca(50);
  return aligned(1);
}
int main(int argc, char** argv) {
  printf("%d\n", getpid());
  recursive(0);
  recursive(3);
  recursive(20);
  with_alloca(100 * argc);
  with_alloca(1000 * argc);
  aligned(argc);
  int two[2] = {1, 2};
  qsort(two, 2, sizeof(int), compare);  // through a function of libc
  pthread_t id;
  pthread_create(&id, 0, on_thread, 0);
  pthread_join(id, 0);
})";

void expectSameChains(const std::string& flags) {
  SCOPED_TRACE(flags);
  AgentRun run;
  run.run(run.compile(std::string(kProgramHead) + kChains, flags));
  ASSERT_EQ(run.status, 0) << run.output;
  ASSERT_EQ(run.lines.size(), 11u);
  const auto pid = static_cast<uint32_t>(run.lines[0][0]);
  for (size_t i = 1; i < run.lines.size(); i++) {
    const std::vector<uint64_t>& line = run.lines[i];
    const Block* block = run.heap->find(pid, line[0], line[1]);
    ASSERT_NE(block, nullptr);
    const std::vector<uint64_t>& stack = run.heap->stack(block->stack);
    const std::vector<uint64_t> wanted(line.begin() + 3, line.end());  // without make() itself
    ASSERT_FALSE(stack.empty());
    EXPECT_NEAR(static_cast<double>(stack[0]), static_cast<double>(line[2]), 200) << "both are in make()";
    const std::vector<uint64_t> callers(stack.begin() + 1, stack.end());
    // Ours ends after twelve frames; libgcc's last one may be the start of the thread, which has no caller.
    const size_t expected = std::min<size_t>(wanted.size(), 11);
    ASSERT_GE(callers.size() + 1, expected) << "line " << i;
    for (size_t k = 0; k < std::min(expected, callers.size()); k++)
      EXPECT_EQ(callers[k], wanted[k]) << "line " << i << ", caller " << k;
  }
}

TEST(AgentStacks, AreThoseOfLibgccWithoutFramePointers) {
  expectSameChains("-O2 -fomit-frame-pointer");
}
TEST(AgentStacks, AreThoseOfLibgccWithFramePointers) {
  expectSameChains("-O2 -fno-omit-frame-pointer");
}
TEST(AgentStacks, AreThoseOfLibgccWithoutOptimization) {
  expectSameChains("-O0");
}
TEST(AgentStacks, AreThoseOfLibgccInAPositionDependentProgram) {
  expectSameChains("-O1 -no-pie -fno-pie -static-libgcc");
}

TEST(AgentStacks, CodeWithoutUnwindTablesEndsTheChain) {
  AgentRun run;
  run.run(run.compile(std::string(kProgramHead) + R"(
__attribute__((noinline)) void* make(void) { return malloc(100); }
int main() {
  void* volatile p = make();
  say(getpid(), ADDRESS(p), now());
  return p == 0;
})",
                      "-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables"));
  ASSERT_EQ(run.status, 0);
  const Block* block =
      run.heap->find(static_cast<uint32_t>(run.lines[0][0]), run.lines[0][1], run.lines[0][2]);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(run.heap->stack(block->stack).size(), 1u);
}

TEST(AgentStacks, AStackThatIsNotTheThreadsOwnIsReadOnItsPageOnly) {
  AgentRun run;
  run.run(run.compile(std::string(kProgramHead) + R"(
#include <ucontext.h>
static ucontext_t outer, inner;
static void* block;
__attribute__((noinline)) void deep(int n) {
  volatile char room[600] = {1};
  if (n > 0) deep(n - 1); else block = malloc(100);
  room[1] = 2;
}
static void start(void) { deep(20); }
int main() {
  getcontext(&inner);
  char* stack = mmap(NULL, 65536 + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(stack + 4096, 65536, PROT_READ | PROT_WRITE);
  inner.uc_stack.ss_sp = stack + 4096;
  inner.uc_stack.ss_size = 65536;
  inner.uc_link = &outer;
  makecontext(&inner, start, 0);
  swapcontext(&outer, &inner);
  say(getpid(), ADDRESS(block), now());
})",
                      "-O1"));
  ASSERT_EQ(run.status, 0) << run.output;
  const Block* block =
      run.heap->find(static_cast<uint32_t>(run.lines[0][0]), run.lines[0][1], run.lines[0][2]);
  ASSERT_NE(block, nullptr);
  EXPECT_GE(run.heap->stack(block->stack).size(), 1u);
}

}  // namespace
}  // namespace cacheline::heap::test
