// Indexes whose step is no element of anything: which member it is only the registers say.
#include <gtest/gtest.h>

#include "decode/instruction.h"
#include "fixture.h"
#include "inference/live_variables.h"
#include "tests/inference/live_process.h"
#include "tests/inference/live_programs.h"
#include "types/field_path.h"

namespace cacheline::inference::test {
namespace {

using namespace types;
using namespace layouts;
using symbols::test::compile;
using symbols::test::TempDir;

/// What was called by another member: one of two, chosen by an index; a member that a pointer or a table of
/// offsets names; the cases of a switch that meet again; pointers that go from object to object.
const char* const kChoices = R"code(
#include <atomic>
#include <cstddef>
#define NOINLINE __attribute__((noinline))
struct Two {
  long pad[2]; std::atomic<long> x, y; long more[4]; std::atomic<long> z;
  NOINLINE void either(int k) { for (int i = 0; i < 3; i++) if (k) x++; else y++; }
  NOINLINE void one(int k) {
    std::atomic<long>* chosen;
    switch (k) {
      case 0: case 4: chosen = &x; break;
      case 2: case 5: chosen = &y; break;
      default: chosen = &z;
    }
    for (int i = 0; i < 3; i++) ++*chosen;
  }
};
struct Named { char name[24]; std::atomic<long> uses, changes; };
struct Stat { int hits, misses; long bytes; int values[4]; int last; };
NOINLINE void named(Two* two, std::atomic<long> Two::*member) { for (int i = 0; i < 3; i++) (two->*member)++; }
NOINLINE void described(Named* named, std::atomic<long> Named::*member) { (named->*member)++; }
NOINLINE void offset(Two* two, const int* offsets, int k) {
  for (int i = 0; i < 3; i++) ++*(std::atomic<long>*)((char*)two + offsets[k]);
}
NOINLINE void far(Stat* stat, int k) { volatile int* chosen = k ? &stat->hits : &stat->last; for (int i = 0; i < 3; i++) *chosen = *chosen + 1; }
NOINLINE void beside(Stat* stat, int k, int i) { volatile int* chosen = k ? &stat->values[i] : &stat->last; *chosen = *chosen + 1; }
struct Node { Node* child[2]; long key, hits; };
NOINLINE void insert(Node* root, Node* node) {
  for (Node* at = root;;) {
    Node*& next = at->child[node->key > at->key];
    if (!next) { next = node; return; }
    at = next;
  }
}
NOINLINE void each(Two* twos, int n) { for (Two* two = twos; two != twos + n; ++two) two->x++; }
int main() {
  auto* two = new Two(); note("Two", two, sizeof *two, 1);
  auto* twos = new Two[3](); note("Two", twos, sizeof *twos, 3);
  auto* stat = new Stat(); note("Stat", stat, sizeof *stat, 1);
  const int offsets[] = {offsetof(Two, x), offsetof(Two, y), offsetof(Two, z)};
  for (int k = 0; k < 7; k++) two->one(k);
  for (int k = 0; k < 3; k++) offset(two, offsets, k);
  for (int k = 0; k < 2; k++) { two->either(k); twos[1].either(k); far(stat, k); beside(stat, k, 2); }
  auto* text = new Named(); note("Named", text, sizeof *text, 1); described(text, &Named::changes);
  Node* root = nullptr;
  for (long key : {3, 1, 4, 0, 5}) {
    auto* node = new Node(); note("Node", node, sizeof *node, 1);
    node->key = key;
    if (root) insert(root, node); else root = node;
  }
  named(two, &Two::x); named(twos + 1, &Two::y); named(two, &Two::z); each(twos, 3);
  return 0;
}
)code";

std::string memberAt(const TypeTable& table, TypeId type, uint64_t offset, uint32_t width) {
  std::string text;
  for (const FieldPath& field : fieldsAt(table, type, offset, width)) text += field.path + " ";
  return text;
}

void expectMembers(const std::string& compiler) {
  const TempDir dir;
  for (const char* level : {"-O0", "-O1", "-O2"}) {
    const std::string binary =
        compile(dir, std::string("choices") + level, "cpp", std::string(kNoteInC) + kChoices,
                std::string("-g ") + level, compiler);
    const auto module = symbols::Module::open(binary, "");
    BinaryTypes types(*module);
    LiveVariables live(*module, types);
    const TypeTable& table = types.table();
    const LiveRun run = runStepByStep(binary, *module);
    size_t accesses = 0, named = 0;
    for (const LiveAccess& access : run.accesses) {
      const NotedObject* truth = run.objectOf(access);
      if (truth == nullptr) continue;
      accesses++;
      const std::string where =
          compiler + " " + level + " " + module->framesAt(access.access).back().function;
      const auto memberOf = [&](TypeId type, uint64_t offset) {
        return memberAt(table, type, offset % truth->size, access.width);
      };
      const uint64_t there = (access.address - truth->base) % truth->size;
      const auto found = live.objectsAt(access.access, access.ip, run.loadBias, access.registers,
                                        access.address, access.width);
      if (!found.empty() && table.nameOf(found[0].type) == truth->type) {
        named++;
        EXPECT_EQ(memberOf(found[0].type, access.address - found[0].base), memberOf(found[0].type, there))
            << where;
        EXPECT_FALSE(found[0].array && found[0].base != truth->base) << where << ": no first element";
      }
      const auto operand = live.operandType(access.access);
      if (operand && table.nameOf(table.strip(operand->type)) == truth->type) {
        if (operand->element != 0 && truth->type != "Named") continue;
        EXPECT_EQ(memberOf(operand->type, operand->offset), memberOf(operand->type, there)) << where;
      }
    }
    ASSERT_GT(accesses, 60u);
    // At -O0 most are the atomics' own functions.
    const size_t least = std::string(level) == "-O0" ? 0 : accesses * 40;
    EXPECT_GE(named * 100, least) << compiler << " " << level;
  }
}

TEST(LiveStrides, ByGcc) {
  NEED_TOOL("g++", "g++");
  expectMembers("g++");
}
TEST(LiveStrides, ByClang) {
  NEED_TOOL("clang++", "clang");
  expectMembers("clang++");
}

/// The difference of two numbers that were made of one value is only known where both are exactly that value.
const char* const kDifferences = R"code(
struct slot { long hits, misses; };
struct table { long used, pad; struct slot slots[64]; };
#define NOINLINE __attribute__((noinline))
/* slots[i - first]: the loop moves away from the argument */
NOINLINE void walk(struct table* table, long first, long last) {
  __asm__ volatile(
      "mov %1, %%rax\n"
      "1: mov %%rax, %%rcx; sub %1, %%rcx; shl $4, %%rcx\n"
      ".globl after_loop\nafter_loop: incq 16(%0, %%rcx)\n"
      "inc %%rax; cmp %2, %%rax; jl 1b"
      : : "r"(table), "r"(first), "r"(last) : "rax", "rcx", "memory");
}
/* slots[i], or slots[0]: one way multiplies otherwise */
NOINLINE void choose(struct table* table, long* index, long way) {
  __asm__ volatile(
      "mov (%1), %%rax; mov %%rax, %%rcx; shl $4, %%rax; test %2, %2; je 1f\n"
      "shl $4, %%rcx; jmp 2f\n"
      "1: shl $5, %%rcx\n"
      "2: sub %%rax, %%rcx\n"
      ".globl after_join\nafter_join: incq 16(%0, %%rcx)"
      : : "r"(table), "r"(index), "r"(way) : "rax", "rcx", "memory");
}
/* no index: the same value twice */
NOINLINE void exact(struct table* table, long* index) {
  __asm__ volatile(
      "mov (%1), %%rax; mov %%rax, %%rcx; shl $4, %%rax; shl $4, %%rcx; sub %%rax, %%rcx\n"
      ".globl no_index\nno_index: incq 16(%0, %%rcx)"
      : : "r"(table), "r"(index) : "rax", "rcx", "memory");
}
struct table one;
long at;
int main(int count, char** arguments) { walk(&one, count, count + 2); choose(&one, &at, count); exact(&one, &at); return 0; }
)code";

TEST(LiveStrides, ADifferenceIsExactOnlyOfTheSameMultiples) {
  const TempDir dir;
  const std::string binary = compile(dir, "differences", "c", kDifferences, "-g -O1");
  const auto module = symbols::Module::open(binary, "");
  BinaryTypes types(*module);
  LiveVariables live(*module, types);
  for (const char* access : {"after_loop", "after_join", "no_index"}) {
    const auto operand = live.operandType(module->image()->addressOfSymbol(access).value());
    ASSERT_TRUE(operand) << access;
    EXPECT_EQ(types.table().nameOf(types.table().strip(operand->type)), "table") << access;
    EXPECT_EQ(operand->element != 0, std::string(access) != "no_index") << access;
  }
}

/// The number of a thread, passed as its argument, chooses its element. No variable holds the element's
/// address: clang drops `own`.
const char* const kPassed = R"code(
#include <stdlib.h>
struct share { volatile long count[4]; };
static struct share* shares;
static long rounds = 8;
__attribute__((noinline)) void* count(void* number) {
  struct share* own = &shares[(long)number];
  const long turns = rounds;
  unsigned character = 1;
  for (long i = 0; i < turns; ++i) {
    character = character * 1103515245 + 12345;
    own->count[character / 65536 % 4] += 1;
  }
  return NULL;
}
int main(int n, char** arguments) {
  rounds *= n;
  shares = calloc(2, sizeof *shares); note("share", shares, sizeof *shares, 2);
  count((void*)1);
  return 0;
}
)code";

TEST(LiveStrides, AnIndexMayBePassedAsAPointer) {
  NEED_TOOL("clang", "clang");
  const TempDir dir;
  const std::string binary = compile(dir, "passed", "c", std::string(kNoteInC) + kPassed, "-g -O2", "clang");
  const auto module = symbols::Module::open(binary, "");
  BinaryTypes types(*module);
  LiveVariables live(*module, types);
  const LiveRun run = runStepByStep(binary, *module);
  size_t accesses = 0;
  for (const LiveAccess& access : run.accesses) {
    const NotedObject* truth = run.objectOf(access);
    if (truth == nullptr || module->framesAt(access.access).back().function != "count") continue;
    accesses++;
    const auto found = live.objectsAt(access.access, access.ip, run.loadBias, access.registers,
                                      access.address, access.width);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(types.table().nameOf(found[0].type), "share");
    EXPECT_EQ((found[0].base - truth->base) % truth->size, 0u);
  }
  EXPECT_EQ(accesses, 8u);
}

const char* const kAllocations = R"code(
#include <cstdlib>
struct Thing { long a, b; };
struct Arena { char* memory; };
struct Link { Link* next; long key[3]; };
struct Owner { long a; ~Owner() { asm volatile("" : : "r"(a)); } };
struct alignas(32) Wide { long a; ~Wide() { asm volatile("" : : "r"(a)); } };
#define NOINLINE __attribute__((noinline))
extern "C" {
NOINLINE Thing* fixed() { return new Thing[8]; }
NOINLINE Owner* owners() { return new Owner[15]; }
NOINLINE Owner* someOwners(long n) { return new Owner[n]; }
NOINLINE Wide* wide() { Wide* all = new Wide[3]; all[1].a = 1; return all; }
NOINLINE Thing* second() { return static_cast<Thing*>(malloc(128)) + 1; }
NOINLINE Thing* counted(long n) { Thing* things = static_cast<Thing*>(malloc(n * sizeof(Thing))); return things; }
NOINLINE Thing* cleared(long n) { return static_cast<Thing*>(calloc(n, sizeof(Thing))); }
NOINLINE Thing* longer(long n) { return static_cast<Thing*>(malloc(sizeof(Thing) + n)); }
NOINLINE void* plain(long n) { return malloc(n); }
NOINLINE void begin(Link* link) { link->next = link; }
NOINLINE void* headed(long n) { void* memory = malloc(n); begin(reinterpret_cast<Link*>(static_cast<char*>(memory) + 8)); return memory; }
NOINLINE Thing* byTheWay(long n) { void* memory = malloc(n * sizeof(Thing)); asm volatile("jmp 1f\n ud2\n1:"); Thing* things = static_cast<Thing*>(memory); return things; }
NOINLINE void arena(Arena* arena) { arena->memory = static_cast<char*>(malloc(128)); }
}
int main() { Arena one; arena(&one); return fixed() && counted(3) && cleared(3) && byTheWay(3) && longer(4) && plain(3) && owners() && someOwners(3) && wide() && second() ? 0 : 1; }
)code";

/// "Thing" where the function's call allocates as many of them as fit into 128 bytes.
std::string allocatedIn(const symbols::Module& module, BinaryTypes& types, LiveVariables& live,
                        const std::string& function) {
  uint64_t at = module.image()->addressOfSymbol(function).value();
  for (;;) {
    decode::Instruction instruction;
    const auto code = module.image()->bytesAt(at, decode::kLongestInstruction);
    if (!decode::decodeInstruction(code, at, instruction)) return "no call";
    at += instruction.length;
    if (code[0] == 0xe8) break;
  }
  const auto allocated = live.allocatedBy(at, 128);
  const std::string name = allocated.type != kNoType ? types.table().nameOf(allocated.type) : "nothing";
  if (allocated.head != 0) return name + " behind " + std::to_string(allocated.head);
  return allocated.fits || allocated.type == kNoType ? name : name + " in more";
}

TEST(LiveAllocations, TheCodeSaysWhatItAllocates) {
  NEED_TOOL("clang++", "clang");
  const TempDir dir;
  for (const char* compiler : {CACHELINE_TEST_CXX, "clang++"})
    for (const char* level : {"-O0", "-O2"}) {
      SCOPED_TRACE(std::string(compiler) + " " + level);
      const std::string binary = compile(dir, std::string("allocations") + level, "cpp", kAllocations,
                                         std::string("-g -fno-optimize-sibling-calls ") + level, compiler);
      const auto module = symbols::Module::open(binary, "");
      BinaryTypes types(*module);
      LiveVariables live(*module, types);
      const auto in = [&](const std::string& function) {
        return allocatedIn(*module, types, live, function);
      };
      EXPECT_EQ(in("fixed"), "Thing");
      EXPECT_EQ(in("counted"), "Thing");
      EXPECT_EQ(in("cleared"), "Thing");
      EXPECT_EQ(in("byTheWay"), "Thing");
      EXPECT_EQ(in("longer"), "Thing in more");
      EXPECT_EQ(in("plain"), "nothing");
      EXPECT_EQ(in("headed"), "nothing") << "no number of links fits behind a cookie";
      EXPECT_EQ(in("owners"), "Owner behind 8");
      EXPECT_EQ(in("someOwners"), "Owner behind 8");
      EXPECT_EQ(in("wide"), "Wide behind 32");
      EXPECT_EQ(in("second"), "nothing") << "no cookie has that size";
      EXPECT_EQ(in("arena"), "char");
    }
}

/// Each keeps the block in a slot of its frame and hands on what is in it, after a store of 16 bytes.
const char* const kSlots = R"code(
struct thing { long a, b; } one;
#define NOINLINE __attribute__((noinline))
#define THROUGH_A_SLOT(name, stored) NOINLINE void name(void) { \
  __asm__ volatile("sub $64, %%rsp\n mov $128, %%edi\n call reserve\n mov %%rax, 24(%%rsp)\n" \
                   "movups %%xmm0, " #stored "(%%rsp)\n mov 24(%%rsp), %%rdi\n call use\n add $64, %%rsp" ::: "memory", "rax", "rdi"); }
NOINLINE void* reserve(long size) { __asm__ volatile("" : "+r"(size)); return &one; }
NOINLINE void use(struct thing* thing) { __asm__ volatile("" : "+m"(thing->a)); }
THROUGH_A_SLOT(below, 8)
THROUGH_A_SLOT(lower, 16)
THROUGH_A_SLOT(same, 24)
THROUGH_A_SLOT(upper, 28)
THROUGH_A_SLOT(above, 32)
int main(void) { below(); lower(); same(); upper(); above(); return 0; }
)code";

TEST(LiveAllocations, ASlotThatIsOverwrittenInPartHoldsNoBlock) {
  const TempDir dir;
  const auto module = symbols::Module::open(compile(dir, "slots", "c", kSlots, "-g -O1"), "");
  BinaryTypes types(*module);
  LiveVariables live(*module, types);
  for (const char* function : {"below", "above"})
    EXPECT_EQ(allocatedIn(*module, types, live, function), "thing") << function;
  for (const char* function : {"lower", "same", "upper"})
    EXPECT_EQ(allocatedIn(*module, types, live, function), "nothing") << function;
}

}  // namespace
}  // namespace cacheline::inference::test
