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
  run.run(run.compile(program(kChains), flags));
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
  run.run(run.compile(program(R"(
__attribute__((noinline)) void* make(void) { return malloc(100); }
int main() {
  void* volatile p = make();
  say(getpid(), ADDRESS(p), now());
  return p == 0;
})"),
                      "-O2 -fno-asynchronous-unwind-tables -fno-unwind-tables"));
  ASSERT_EQ(run.status, 0);
  const Block* block =
      run.heap->find(static_cast<uint32_t>(run.lines[0][0]), run.lines[0][1], run.lines[0][2]);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(run.heap->stack(block->stack).size(), 1u);
}

TEST(AgentStacks, AStackThatIsNotTheThreadsOwnIsReadOnItsPageOnly) {
  AgentRun run;
  run.run(run.compile(program(R"(
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
})"),
                      "-O1"));
  ASSERT_EQ(run.status, 0) << run.output;
  const Block* block =
      run.heap->find(static_cast<uint32_t>(run.lines[0][0]), run.lines[0][1], run.lines[0][2]);
  ASSERT_NE(block, nullptr);
  EXPECT_GE(run.heap->stack(block->stack).size(), 1u);
}

/// Between the coroutine's stack and the thread's own lies the thread's guard. The coroutine's first function
/// says that its caller's frame is there, as code with a wrong table, or with a register of its own use, may.
TEST(AgentStacks, AStackBelowTheThreadsOwnIsReadOnItsPageOnly) {
  AgentRun run;
  run.run(run.compile(program(R"(
#include <ucontext.h>
static ucontext_t outer, inner;
static void* block;
static char* guard;
void enter(char* frame);
__asm__(".globl enter\n.type enter,@function\nenter:\n.cfi_startproc\n"
        "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6,-16\n"
        "mov %rdi,%rbp\n.cfi_def_cfa 6,16\n"
        "call allocate\n"
        "pop %rbp\n.cfi_def_cfa 7,8\nret\n.cfi_endproc\n.size enter,.-enter");
__attribute__((noinline)) void allocate(void) { block = malloc(100); }
static void start(void) { enter(guard); }
static void* on_thread(void* memory) {
  void* early = malloc(100);
  getcontext(&inner);
  inner.uc_stack.ss_sp = memory;
  inner.uc_stack.ss_size = 65536;
  inner.uc_link = &outer;
  makecontext(&inner, start, 0);
  swapcontext(&outer, &inner);
  say(getpid(), ADDRESS(block), now());
  return early;
}
int main() {
  // a coroutine's stack, a page that nobody may read, the thread's stack
  char* memory = mmap(NULL, 65536 + 4096 + 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  guard = memory + 65536;
  mprotect(guard, 4096, PROT_NONE);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, guard + 4096, 65536);
  pthread_t id;
  pthread_create(&id, &attributes, on_thread, memory);
  pthread_join(id, 0);
})"),
                      "-O1 -fno-omit-frame-pointer"));
  ASSERT_EQ(run.status, 0) << run.output;
  const Block* block =
      run.heap->find(static_cast<uint32_t>(run.lines[0][0]), run.lines[0][1], run.lines[0][2]);
  ASSERT_NE(block, nullptr);
  EXPECT_GE(run.heap->stack(block->stack).size(), 2u) << "allocate, enter";
}

/// glibc allocates in it while it holds the thread's lock.
TEST(AgentStacks, AskingForTheThreadsStackIsRecordedLikeAnything) {
  AgentRun run;
  run.run(run.compile(program(R"(
static void* on_thread(void* unused) {
  pthread_attr_t attributes;
  void* low;
  size_t size;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  say(size, (char*)low <= (char*)&size, 0);
  return 0;
}
int main() {
  alarm(20); // where it waits for itself
  for (int i = 0; i < 4; i++) {
    pthread_t id;
    pthread_create(&id, 0, on_thread, 0);
    pthread_join(id, 0);
  }
})")));
  ASSERT_EQ(run.status, 0) << run.output;
  EXPECT_EQ(run.lines.size(), 4u);
  EXPECT_EQ(run.counts.lostNested, 0u);
}

}  // namespace
}  // namespace cacheline::heap::test
