// Arrays of numbers, which no type tells apart: they go by the pointer that leads to them.
#include <gtest/gtest.h>

#include "typed_program.h"

namespace cacheline::analysis {
namespace {

using namespace test;

/// `use_member` reaches numbers by a member, `use_to` by a parameter, `use_mine` has a pointer to one number,
/// `use_row` gets its row out of an array of pointers, `use_sum` has another array's start in a register.
const Program& numbers() {
  static const Program program("-g", R"(
struct state { long n; long *partial; };
struct args { long *data, *sums; };
static long **rows;
__attribute__((noinline)) void member(struct state *state, long i) { __asm__ volatile(".globl use_member\nuse_member: incq %0\n nop" : "+m"(state->partial[i])); }
__attribute__((noinline)) void fill(long *to, long i) {
  __asm__ volatile(".globl use_to\nuse_to: incq %0\n nop" : "+m"(to[i]));
  __asm__ volatile("" ::"r"(to));
}
__attribute__((noinline)) void one(long *mine) { __asm__ volatile(".globl use_mine\nuse_mine: incq %0\n nop" : "+m"(*mine)); }
__attribute__((noinline)) void row(long i, long k) {
  long *all = rows[i];
  __asm__ volatile(".globl use_row\nuse_row: incq %0\n nop" : "+m"(all[k]));
  __asm__ volatile("" ::"r"(all));
}
__attribute__((noinline)) void sum(struct args *args, long i) {
  register long *data __asm__("r8") = args->data;
  register long *mine __asm__("r9") = args->sums + i;
  __asm__ volatile(".globl use_sum\nuse_sum: incq (%1)\n nop" : : "r"(data), "r"(mine) : "memory");
  __asm__ volatile("" ::"r"(data));
}
void _start(void) {
  struct state state; struct args args;
  __asm__ volatile("" : "=m"(state), "=m"(args), "=m"(rows));
  member(&state, 1); fill(state.partial, 1); one(state.partial); row(1, 1); sum(&args, 1);
}
)");
  return program;
}

class TypedNumbers : public Recorded {
 protected:
  static constexpr uint64_t kArray = kHeap + 0x40, kOther = kHeap + 0x1000;
  static constexpr int kSamples = 6;

  void use(const std::string& access, uint8_t reg, uint64_t pointer, uint64_t index) {
    scenario_.sample(kMain, index % 2 == 0 ? kMain : kThread, program_->after(access),
                     {{reg, pointer}, {kRegSi, index}});
  }
  const std::string& objectAt(uint64_t address) { return accessAt(address).data.object; }
};

TEST_F(TypedNumbers, GoByTheMemberThatLeadsToThem) {
  begin(numbers());
  for (int i = 0; i < kSamples; ++i)
    for (const uint64_t index : {0u, 1u}) use("use_member", kRegAx, kArray, index);
  analyze();
  for (const uint64_t index : {0u, 1u}) {
    const DataName& data = accessAt(kArray + 8 * index).data;
    EXPECT_EQ(data.object, "state.partial[]");
    EXPECT_EQ(data.type, "long int");
    EXPECT_EQ(data.index, index);
    EXPECT_EQ(data.base, kArray);
  }
}

TEST_F(TypedNumbers, GoByTheFunctionsVariable) {
  begin(numbers());
  for (int i = 0; i < kSamples; ++i) {
    for (const uint64_t index : {0u, 1u}) use("use_to", kRegDi, kArray, index);
    touch(kMain, "use_mine", kOther);
    touch(kThread, "use_mine", kOther + 8);
  }
  analyze();
  EXPECT_EQ(objectAt(kArray), "fill::to[]");
  EXPECT_EQ(objectAt(kArray + 8), "fill::to[]");
  EXPECT_EQ(objectAt(kOther), "one::mine[]");
  EXPECT_EQ(objectAt(kOther + 8), "one::mine[]");
}

/// The caller decides which array it is: nobody knows that two are one thing.
TEST_F(TypedNumbers, OfOneVariableSeveralArraysAreToldApart) {
  begin(numbers());
  for (int i = 0; i < kSamples; ++i)
    for (const uint64_t array : {kArray, kOther})
      for (const uint64_t index : {0u, 1u}) use("use_to", kRegDi, array, index);
  analyze();
  for (const uint64_t index : {0u, 1u}) {
    EXPECT_EQ(objectAt(kArray + 8 * index), "fill::to (1 of 2)[]");
    EXPECT_EQ(objectAt(kOther + 8 * index), "fill::to (2 of 2)[]");
  }
}

/// Rows may be one array or several: they have one name, as pointers to them have one.
TEST_F(TypedNumbers, RowsBesideEachOtherHaveOneName) {
  begin(numbers());
  for (int i = 0; i < kSamples; ++i)
    for (const uint64_t array : {kArray, kArray + 24}) {
      use("use_to", kRegDi, array, 1);
      use("use_row", kRegAx, array + 0x1000, 1);
    }
  analyze();
  EXPECT_EQ(objectAt(kArray + 8), "fill::to[]");
  EXPECT_EQ(objectAt(kArray + 24 + 8), "fill::to[]");
  EXPECT_EQ(objectAt(kArray + 0x1000 + 8), "rows[][]");
  EXPECT_EQ(objectAt(kArray + 0x1000 + 24 + 8), "rows[][]");
}

/// What code counts from one pointer is no element of what another one points to.
TEST_F(TypedNumbers, AnotherPointersArrayDoesNotReachThem) {
  begin(numbers());
  for (int i = 0; i < kSamples; ++i)
    for (const uint64_t index : {0u, 1u})
      scenario_.sample(kMain, index == 0 ? kMain : kThread, program_->after("use_sum"),
                       {{kRegR8, kArray}, {kRegR9, kOther + 8 * index}});
  analyze();
  for (const uint64_t index : {0u, 1u}) {
    EXPECT_EQ(objectAt(kOther + 8 * index), "args.sums[]");
    EXPECT_NE(accessAt(kOther + 8 * index).data.base, kArray);
  }
}

TEST_F(TypedNumbers, ABlockSaysHowManyThereAreAndWhoAllocatedThem) {
  begin(numbers());
  for (int i = 0; i < kSamples; ++i)
    for (const uint64_t index : {0u, 1u}) use("use_member", kRegAx, kArray, index);
  analyzeWithBlocks({{kArray, 32}});
  for (const uint64_t index : {0u, 1u}) {
    const DataName& data = accessAt(kArray + 8 * index).data;
    EXPECT_EQ(data.object, "state.partial[]");
    EXPECT_EQ(data.type, "long int[4]");
    EXPECT_EQ(data.index, index);
    EXPECT_TRUE(data.allocation);
  }
}

}  // namespace
}  // namespace cacheline::analysis
