// Which pointer with static storage code loaded to get to an element.
#include <gtest/gtest.h>

#include "decode/instruction.h"
#include "fixture.h"
#include "inference/live_variables.h"

namespace cacheline::inference::test {
namespace {

using namespace types;
using namespace layouts;
using symbols::test::compile;
using symbols::test::TempDir;

/// Each function has one access that adds 1 to memory outside of its frame.
const char* const kPointers = R"code(
struct slot { long hits, misses; int last; };
union padded { struct slot slot; char pad[64]; };
static struct slot* slots;
union padded* table;
static int* numbers;
struct { int count; struct slot* slots; } cache;
static struct slot* lists[4];
#define NOINLINE __attribute__((noinline))
NOINLINE void by_index(unsigned i) { __atomic_fetch_add(&slots[i].misses, 1, __ATOMIC_RELAXED); }
NOINLINE void behind(unsigned i) { __atomic_fetch_add(&slots[i + 3].misses, 1, __ATOMIC_RELAXED); }
NOINLINE void of_union(int i) { __atomic_fetch_add(&table[i].slot.misses, 1, __ATOMIC_RELAXED); }
NOINLINE void plain(long i) { __atomic_fetch_add(&numbers[i], 1, __ATOMIC_RELAXED); }
NOINLINE void of_member(int i) { __atomic_fetch_add(&cache.slots[i].hits, 1, __ATOMIC_RELAXED); }
NOINLINE void in_loop(long n) { for (long i = 0; i < n; i++) __atomic_fetch_add(&slots[i].misses, 1, __ATOMIC_RELAXED); }
NOINLINE void of_either(int which, unsigned i) { struct slot* from = which ? slots : cache.slots; __atomic_fetch_add(&from[i].misses, 1, __ATOMIC_RELAXED); }
NOINLINE void of_argument(struct slot* from, unsigned i) { __atomic_fetch_add(&from[i].misses, 1, __ATOMIC_RELAXED); }
NOINLINE void of_list(int which, unsigned i) { __atomic_fetch_add(&lists[which][i].misses, 1, __ATOMIC_RELAXED); }
int main(int argc, char** argv) {
  slots = (struct slot*)argv; table = (union padded*)argv; numbers = (int*)argv; cache.slots = slots; lists[argc] = slots;
  by_index(1); behind(1); of_union(1); plain(1); of_member(1); in_loop(1); of_either(1, 1); of_argument(slots, 1); of_list(1, 1);
  return 0;
}
)code";

/// The one access of a function with a `lock` prefix.
uint64_t accessOf(const symbols::ElfImage& image, const std::string& function) {
  const symbols::Symbol* symbol = image.functionAt(image.addressOfSymbol(function).value());
  uint64_t found = 0;
  for (uint64_t at = symbol->address; at < symbol->address + symbol->size;) {
    decode::Instruction instruction;
    if (!decode::decodeInstruction(image.bytesAt(at, decode::kLongestInstruction), at, instruction)) break;
    if (instruction.accesses && instruction.operand.locked) found = at;
    at += instruction.length;
  }
  return found;
}

void judge(const std::string& compiler, const std::string& flags) {
  SCOPED_TRACE(compiler + " " + flags);
  const TempDir dir;
  const auto module =
      symbols::Module::open(compile(dir, "origins", "c", kPointers, "-g " + flags, compiler), "");
  BinaryTypes types(*module);
  LiveVariables live(*module, types);
  const auto originIn = [&](const std::string& function) {
    const auto operand = live.operandType(accessOf(*module->image(), function));
    return operand ? operand->origin : 0;
  };
  const auto address = [&](const std::string& variable) {
    return module->image()->addressOfSymbol(variable).value();
  };
  for (const char* function : {"by_index", "behind", "in_loop"})
    EXPECT_EQ(originIn(function), address("slots")) << function;
  EXPECT_EQ(originIn("of_union"), address("table"));
  EXPECT_EQ(originIn("plain"), address("numbers"));
  EXPECT_EQ(originIn("of_member"), address("cache") + 8);
  for (const char* function : {"of_either", "of_argument", "of_list"})
    EXPECT_EQ(originIn(function), 0u) << function;
}

TEST(LiveOrigins, ByGcc) {
  for (const char* level : {"-O0", "-O1", "-O2"})
    for (const char* kind : {"-fno-pie -no-pie", "-fPIE -pie"})
      judge(CACHELINE_TEST_CC, std::string(level) + " " + kind);
}

TEST(LiveOrigins, ByClang) {
  NEED_TOOL("clang", "clang");
  for (const char* level : {"-O0", "-O1", "-O2"})
    for (const char* kind : {"-fno-pie -no-pie", "-fPIE -pie"})
      judge("clang", std::string(level) + " " + kind);
}

}  // namespace
}  // namespace cacheline::inference::test
