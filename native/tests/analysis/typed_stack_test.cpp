// Local variables, and what uses their memory after them.
#include "typed_program.h"

namespace cacheline::analysis {
namespace {

using namespace test;

constexpr uint64_t kStack = 0x7ffdcafe0000, kLocal = kStack - 64;

class TypedStack : public Recorded {
 protected:
  /// A function with a local variable `board`, and one of which the code says nothing.
  TypedStack() {
    static const Program program("-g", R"(
struct board { long id, count; };
__attribute__((noinline)) void play(void) {
  struct board board = {1, 1};
  __asm__ volatile(".globl play_count\nplay_count: incq %0\n nop" : "+m"(board.count));
}
__attribute__((noinline)) void silent(void) { __asm__ volatile(".globl silent_access\nsilent_access: incq (%rdi)\n nop"); }
void _start(void) { play(); silent(); }
)");
    begin(program);
    scenario_.anonymous(kMain, kStack - 0x10000, 0x10000, "[stack]");
  }
  void play() {
    scenario_.sample(kMain, kMain, program_->after("play_count"),
                     {{kRegSp, kLocal + 24}, {kRegBp, kLocal + 24}});
  }
  /// By a function of `tid`, whose stack pointer is `stack`.
  void silentlyTouch(uint32_t tid, uint64_t address, uint64_t stack) {
    scenario_.sample(kMain, tid, program_->after("silent_access"), {{kRegDi, address}, {kRegSp, stack}});
  }
  const DataName* silentRow() {
    for (const Line& line : report_.lines)
      for (const Access& access : line.accesses)
        if (access.code->symbol == "silent") return &access.data;
    return nullptr;
  }
  uint64_t count() {
    for (const Line& line : report_.lines)
      for (const Access& access : line.accesses)
        if (access.data.type == "board") return line.address + access.offset;
    return 0;
  }
};

TEST_F(TypedStack, ALocalVariableSpeaksForWhatOtherThreadsDoThere) {
  for (int i = 0; i < 10; ++i) play();
  analyze();
  const uint64_t place = count();
  ASSERT_NE(place, 0u);
  for (int i = 0; i < 10; ++i) {
    silentlyTouch(kThread, place, 0x7f0000001000);
    play();
  }
  analyze();
  ASSERT_NE(silentRow(), nullptr);
  EXPECT_EQ(silentRow()->type, "board");
}

TEST_F(TypedStack, ALocalVariableSaysNothingOfTheFramesThatFollowIt) {
  for (int i = 0; i < 10; ++i) play();
  analyze();
  const uint64_t place = count();
  ASSERT_NE(place, 0u);
  for (int i = 0; i < 10; ++i) {
    silentlyTouch(kMain, place, place - 8);
    play();
  }
  analyze();
  ASSERT_NE(silentRow(), nullptr);
  EXPECT_EQ(silentRow()->type, "");
}

}  // namespace
}  // namespace cacheline::analysis
