// Constants that lead out of the object that a pointer is to: container_of without a variable, and elements
// of arrays.
#include <gtest/gtest.h>

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

/// `note` tells the truth; where it says "?", nobody can know by the code: several types fit, or an array.
const char* const kHolders = R"code(
#include <stddef.h>
#include <stdlib.h>
#define NOINLINE __attribute__((noinline))
#define container_of(p, t, m) ((t*)((char*)(p) - offsetof(t, m)))
struct list { struct list *next, *previous; };
struct item { int key; struct list node; long hits; struct item* owner; long rest[4]; };
struct batch { long id; struct item first; long last; };
NOINLINE void behind(struct list* l) { container_of(l, struct item, node)->hits++; }
NOINLINE void ahead(struct list* l) { container_of(l, struct item, node)->key++; }
static inline struct item* item_of(struct list* l) { return container_of(l, struct item, node); }
NOINLINE void inlined(struct list* l) { item_of(l)->rest[2]++; }
NOINLINE void through(struct list* l) { container_of(l, struct item, node)->owner->hits += 2; }
struct ring { struct ring *next, *previous; };
struct red { struct ring links; long reds; };
struct blue { long id; struct ring links; long blues; };
NOINLINE void red(struct ring* r) { container_of(r, struct red, links)->reds++; }
struct pair { long a, b; };
struct sums { struct pair in, out; long total; };
NOINLINE void second(struct pair* p) { p[1].a++; }
NOINLINE void total(struct pair* out) { container_of(out, struct sums, out)->total++; }
struct slot { long lock, sum, uses; };
NOINLINE void slots(struct slot* s) { s[1].sum++; }
NOINLINE void counted(struct pair* p, int n) { for (int i = 0; i < n; i++) p[i].b++; p[1].a++; }
int main(void) {
  struct batch* batch = calloc(1, sizeof *batch); note("batch|item", batch, sizeof *batch, 1);
  struct item* item = calloc(1, sizeof *item); note("item", item, sizeof *item, 1); item->owner = item;
  for (int i = 0; i < 3; i++) { behind(&item->node); ahead(&item->node); inlined(&item->node); through(&item->node); behind(&batch->first.node); }
  struct red* red_one = calloc(1, sizeof *red_one); note("?", red_one, sizeof *red_one, 1); red(&red_one->links);
  struct blue* blue = calloc(1, sizeof *blue); blue->id = 1;
  struct pair* pairs = calloc(4, sizeof *pairs); note("?", pairs, sizeof *pairs, 4); second(pairs + 1);
  struct sums* sums = calloc(1, sizeof *sums); note("?", sums, sizeof *sums, 1); total(&sums->out);
  struct slot* all = calloc(4, sizeof *all); note("slot", all, sizeof *all, 4); slots(all);
  struct pair* more = calloc(4, sizeof *more); note("pair", more, sizeof *more, 4); counted(more, 3);
  return 0;
}
)code";

class LiveHolders : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(LiveHolders, AConstantBehindAPointeeIsNoIndexWhereSomethingHoldsIt) {
  const auto [compiler, level] = GetParam();
  if (std::string_view(compiler) == "gcc") {
    NEED_TOOL("gcc", "gcc");
  } else {
    NEED_TOOL("clang", "clang");
  }
  const TempDir dir;
  const std::string binary =
      compile(dir, "holders", "c", std::string(kNoteInC) + kHolders, std::string("-g ") + level, compiler);
  const auto module = symbols::Module::open(binary, "");
  BinaryTypes types(*module);
  LiveVariables live(*module, types);
  const TypeTable& table = types.table();
  const LiveRun run = runStepByStep(binary, *module);
  size_t items = 0, open = 0, slots = 0, pairs = 0;
  for (const LiveAccess& access : run.accesses) {
    const NotedObject* truth = run.objectOf(access);
    if (truth == nullptr) continue;
    const std::string function = module->framesAt(access.access).back().function;
    if (function == "main") continue;
    Doubt doubt, leads;
    const auto found = live.objectsAt(access.access, access.ip, run.loadBias, access.registers,
                                      access.address, access.width, &doubt);
    const auto operand = live.operandType(access.access, &leads);
    if (truth->type == "?") {
      EXPECT_TRUE(found.empty()) << function << ": " << table.nameOf(found.front().type);
      ASSERT_FALSE(operand) << function << ": " << table.nameOf(operand->type);
      const bool ring = function == "red";
      EXPECT_EQ(table.nameOf(leads.from), ring ? "ring" : "pair") << function;
      EXPECT_EQ(leads.enclosingTypes.size(), ring ? 2u : 1u) << function;
      EXPECT_TRUE(leads.neighbour) << function;
      EXPECT_EQ(doubt.from, leads.from);
      open++;
      continue;
    }
    ASSERT_FALSE(found.empty()) << function;
    ASSERT_TRUE(operand) << function;
    EXPECT_TRUE(truth->is(table.nameOf(found.front().type)))
        << function << " " << table.nameOf(found[0].type);
    EXPECT_TRUE(truth->is(table.nameOf(operand->type))) << function << " " << table.nameOf(operand->type);
    const std::string type = table.nameOf(operand->type);
    items += type == "item";
    slots += type == "slot";
    pairs += type == "pair";
    const uint64_t size = table.sizeOf(operand->type).value_or(1);
    const uint64_t start = truth->type == "batch|item" ? truth->base + 8 : truth->base;
    EXPECT_EQ(operand->offset % size, (access.address - start) % size) << function;
    if (type == "item") {
      EXPECT_EQ(found.front().base, start) << function;
    }
  }
  EXPECT_GE(items, 18u);
  EXPECT_GE(open, 3u);
  EXPECT_GE(slots, 1u);
  EXPECT_GE(pairs, 4u);
}

INSTANTIATE_TEST_SUITE_P(Compilers, LiveHolders,
                         ::testing::Combine(::testing::Values("gcc", "clang"),
                                            ::testing::Values("-O0", "-O1", "-O2")));

}  // namespace
}  // namespace cacheline::inference::test
