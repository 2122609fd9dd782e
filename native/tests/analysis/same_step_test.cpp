// Waiting by code that uses both words in one basic block, from a recording.
#include "typed_program.h"

namespace cacheline::analysis::test {
namespace {

class SameStep : public Recorded {
 protected:
  /// How much of the waiting at `tail` for `head` is by code that uses both: one thread reads the one by
  /// `access`, another one writes the other.
  double of(const std::string& access) {
    static const Program ring("-g", R"(
struct ring { long head, tail; } ring __attribute__((aligned(64))) = {1, 1};
void _start(void) {
  __asm__ volatile(".globl look_at_both\nlook_at_both: movq ring+8(%rip), %rax\n nop\n"
                   " movq ring(%rip), %rcx\n jmp 1f\n"
                   "1: .globl look_at_one\nlook_at_one: movq ring+8(%rip), %rax\n nop\n jmp 2f\n"
                   "2: .globl move_head\nmove_head: movq %rcx, ring(%rip)\n nop");
}
)");
    begin(ring);
    for (int i = 0; i < 30; ++i) {
      touch(kMain, access);
      touch(kThread, "move_head");
    }
    analyze();
    const Line* line = lineAt(report_, ring.address("ring"));
    if (line == nullptr) return -1;
    for (const WaitCause& cause : line->causes)
      if (cause.word == 1 && cause.cause == 0) return cause.sameStep;
    return -1;
  }
};

TEST_F(SameStep, IsOfTheSameBlock) {
  EXPECT_EQ(of("look_at_both"), 1);
}

TEST_F(SameStep, IsNotOfAnotherBlock) {
  EXPECT_EQ(of("look_at_one"), 0);
}

}  // namespace
}  // namespace cacheline::analysis::test
