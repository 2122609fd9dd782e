// Lines of which only loads have samples, by code that stores to what it loaded.
#include <algorithm>

#include "analysis/verdict.h"
#include "typed_program.h"

namespace cacheline::analysis::test {
namespace {

class LaterWriter : public Recorded {
 protected:
  LaterWriter() { begin(queue()); }

  static const Program& queue() {
    static const Program program("-g", R"(
#define CODE(name, text) \
  __asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n" text "\n.size " #name ",.-" #name "\n")
struct queue { long front, back; } queue __attribute__((aligned(64))) = {1, 1};
CODE(push_front, " movq (%rdi), %rax\n nop\n testq %rax, %rax\n jz 1f\n incq %rax\n1: movq %rax, (%rdi)\n ret");
CODE(push_back, " movq 8(%rdi), %rax\n nop\n testq %rax, %rax\n jz 1f\n incq %rax\n1: movq %rax, 8(%rdi)\n ret");
CODE(wait_front, "1: movq (%rdi), %rax\n nop\n testq %rax, %rax\n jz 1b\n incq %rax\n movq %rax, (%rdi)\n ret");
CODE(set_front, " movq (%rdi), %rax\n nop\n testq %rax, %rax\n jnz 1f\n movq $1, (%rdi)\n1: ret");
CODE(reset_front, " movq (%rdi), %rax\n nop\n cmpq $1, %rax\n jne 1f\n movq $0, (%rdi)\n1: ret");
CODE(try_front, " movq (%rdi), %rax\n nop\n cmpq $9, %rax\n ja 1f\n incq %rax\n imulq $3, %rax, %rax\n movq %rax, (%rdi)\n1: ret");
CODE(read_back, " movq 8(%rdi), %rax\n nop\n ret");
void _start(void) { for (;;) ; }
)");
    return program;
  }
  static uint64_t place() { return queue().address("queue"); }

  const Line& judge(const std::string& one, const std::string& other) {
    for (int i = 0; i < 60; ++i) {
      touch(kMain, one, place());
      touch(kThread, other, place());
    }
    analyze();
    for (const Line& line : report_.lines)
      if (line.address == place()) return line;
    throw std::runtime_error("the line is not in the report");
  }
};

TEST_F(LaterWriter, WritesEachTime) {
  const Line& line = judge("push_front", "push_back");
  EXPECT_EQ(line.verdict, Verdict::falseSharing);
  EXPECT_EQ(line.contended, line.records);
  EXPECT_GT(line.falseShare->low, 0.8);
  for (const Access& access : line.accesses) EXPECT_EQ(access.storesLater, StoresLater::always);
  EXPECT_FALSE(line.ifWritten);
}

TEST_F(LaterWriter, WaitsAtTheLoadForWritesAlone) {
  const Line& line = judge("push_front", "read_back");
  ASSERT_EQ(line.words.size(), 2U);
  for (const WaitCause& cause : line.causes) EXPECT_EQ(cause.cause, 0U) << "nobody writes the other word";
}

TEST_F(LaterWriter, WhoWritesNowAndThenIsAWriter) {
  const Line& line = judge("wait_front", "push_back");
  EXPECT_EQ(line.verdict, Verdict::falseSharing);
  EXPECT_LT(line.falseShare->low, 0.8) << "perhaps it hardly does";
  EXPECT_EQ(line.accesses[0].storesLater, StoresLater::always);
}

TEST_F(LaterWriter, SettingAFlagOnceIsNone) {
  const Line& line = judge("set_front", "read_back");
  EXPECT_EQ(line.verdict, Verdict::readShared);
  EXPECT_FALSE(line.ifWritten);
  EXPECT_EQ(line.accesses[0].storesLater, StoresLater::sometimes);
  EXPECT_EQ(line.accesses[1].storesLater, StoresLater::never);
}

TEST_F(LaterWriter, MayBeTwoThatUndoEachOther) {
  const Line& line = judge("set_front", "reset_front");
  EXPECT_EQ(line.verdict, Verdict::readShared);
  ASSERT_TRUE(line.ifWritten);
  EXPECT_LT(line.ifWritten->falseShare.high, 0.2) << "it is one word";
}

TEST_F(LaterWriter, MayWrite) {
  const Line& line = judge("try_front", "read_back");
  EXPECT_EQ(line.verdict, Verdict::readShared);
  ASSERT_TRUE(line.ifWritten);
  EXPECT_GT(line.ifWritten->contended, 50U);
  EXPECT_EQ(line.ifWritten->falseShare.high, 1);
}

TEST_F(LaterWriter, IsSeenOnTheWayToTheStore) {
  const uint64_t start = queue().address("try_front");
  constexpr uint64_t kTriple = 0x0d;  // imulq, behind the branch
  scenario_.sample(kMain, kMain, start + kTriple, {{kRegDi, place()}, {kRegAx, 4}});
  const Line& line = judge("try_front", "read_back");
  EXPECT_TRUE(isContended(line.verdict));
  EXPECT_EQ(line.falseShare->high, 1);
}

TEST_F(LaterWriter, IsNotSeenThereWithAnotherObject) {
  const uint64_t start = queue().address("try_front");
  constexpr uint64_t kTriple = 0x0d;
  scenario_.sample(kMain, kMain, start + kTriple, {{kRegDi, kHeap}, {kRegAx, 4}});
  EXPECT_EQ(judge("try_front", "read_back").verdict, Verdict::readShared);
}

}  // namespace
}  // namespace cacheline::analysis::test
