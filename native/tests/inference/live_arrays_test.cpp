// Arrays inside of structures, reached by index arithmetic: the object and the member are known, though no
// register says which element it is.
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

/// What was lost of each: the elements' rows in a loop; a constant that the compiler adds to the index before
/// it is scaled; a structure that is copied from behind a `void*`; a pointer that lies behind a `void**`.
const char* const kArrays = R"code(
#include <stdlib.h>
struct matrix { int rows, columns; long cell[6][5]; struct { long sum, largest; } of_row[6]; };
struct worker { int id; long count; const void* config; struct { long last; short codes[4]; } errors; };
struct job { struct matrix* matrix; long* totals; int first; };
#define NOINLINE __attribute__((noinline))
#define BARRIER() __asm__ volatile("" ::: "memory")
NOINLINE void* sum(void* argument) {
  const struct job job = *(struct job*)argument;
  struct matrix* matrix = job.matrix;
  long* totals = job.totals;
  for (int row = job.first; row < 6; row += 2)
    for (int column = 0; column < 5; column++) {
      matrix->cell[row][column] += column;
      BARRIER();
      matrix->of_row[row].sum += column;
      BARRIER();
      totals[row]++;
      BARRIER();
    }
  return 0;
}
NOINLINE void note_error(struct worker* worker, int i) { worker->errors.last = i; worker->errors.codes[i & 3]++; }
NOINLINE double tick(void) { BARRIER(); return 1; }
static void* spread(void* argument) {
  struct matrix* matrix = (struct matrix*)argument;
  if (tick() < 0) return 0;
  for (int row = 0; row < 6; row++) { matrix->of_row[row].largest = row; BARRIER(); }
  return 0;
}
NOINLINE void* behind(void* argument) { void** job = (void**)argument; return job[0] ? spread(job[0]) : spread(job[1]); }
int main() {
  struct matrix* matrix = (struct matrix*)calloc(1, sizeof *matrix); note("matrix", matrix, sizeof *matrix, 1);
  struct worker* worker = (struct worker*)calloc(1, sizeof *worker); note("worker", worker, sizeof *worker, 1);
  long* totals = (long*)calloc(6, sizeof *totals);
  struct job job = {matrix, totals, 1};
  sum(&job);
  for (int i = 0; i < 4; i++) note_error(worker, i);
  void* second[2] = {0, matrix};
  behind(second);
  return 0;
}
)code";

std::vector<std::string> membersAt(const TypeTable& table, TypeId type, uint64_t offset, uint32_t width) {
  std::vector<std::string> names;
  for (const FieldPath& field : fieldsAt(table, type, offset, width)) {
    std::string name;
    for (const char c : field.path)
      if (c < '0' || c > '9') name += c;
    names.push_back(name);
  }
  return names;
}

void judge(const std::string& compiler) {
  const TempDir dir;
  for (const char* level : {"-O0", "-O1", "-O2"}) {
    const std::string binary = compile(dir, std::string("arrays") + level, "c",
                                       std::string(kNoteInC) + kArrays, std::string("-g ") + level, compiler);
    const auto module = symbols::Module::open(binary, "");
    BinaryTypes types(*module);
    LiveVariables live(*module, types);
    const TypeTable& table = types.table();
    const LiveRun run = runStepByStep(binary, *module);
    size_t accesses = 0, right = 0;
    for (const LiveAccess& access : run.accesses) {
      const NotedObject* truth = run.objectOf(access);
      if (truth == nullptr) continue;
      accesses++;
      const auto operand = live.operandType(access.access);
      if (!operand) continue;
      const TypeId type = table.strip(operand->type);
      EXPECT_EQ(table.nameOf(type), truth->type) << level << std::hex << " at " << access.access;
      const uint64_t offset = access.address - truth->base;
      EXPECT_EQ(membersAt(table, type, operand->offset, access.width),
                membersAt(table, type, offset, access.width))
          << level << std::hex << " at " << access.access;
      right++;
      // What registers say besides must not contradict.
      const auto found = live.objectsAt(access.access, access.ip, run.loadBias, access.registers,
                                        access.address, access.width);
      for (const CodeObject& object : found) {
        const bool whole = table.nameOf(table.strip(object.type)) == truth->type && !object.array;
        EXPECT_TRUE(!whole || object.base == truth->base) << level << std::hex << " at " << access.access;
      }
    }
    std::cout << compiler << " " << level << ": " << accesses << " accesses, " << right << " followed\n";
    ASSERT_GT(accesses, 30u);
    EXPECT_GE(right * 100, accesses * 80) << level;
  }
}

TEST(LiveArrays, ByGcc) {
  NEED_TOOL("gcc", "gcc");
  judge("gcc");
}
TEST(LiveArrays, ByClang) {
  NEED_TOOL("clang", "clang");
  judge("clang");
}

const char* const kElements = R"code(
#include <stdlib.h>
struct slot { long lock, sum, uses; };
struct table { long rounds; struct slot* slots; };
#define NOINLINE __attribute__((noinline))
static inline __attribute__((always_inline)) void hit(struct slot* self, long value) {
  __sync_fetch_and_add(&self->lock, 1);
  self->sum += value;
}
NOINLINE void third(struct table* table, long value) { struct slot* slot = &table->slots[3]; hit(slot, value); }
NOINLINE void any(struct table* table, long i, long value) { hit(&table->slots[i], value); }
int main(int argc, char** argv) {
  struct slot* slots = (struct slot*)calloc(8, sizeof *slots); note("slot", slots, sizeof *slots, 8);
  struct table* table = (struct table*)calloc(1, sizeof *table);
  table->slots = slots;
  third(table, argc);
  any(table, argc + 4, argc);
  any(table, argc - 1, argc);
  return (int)slots[3].sum - 1;
}
)code";

/// A pointer to an element that the code reaches from the array's start: no array begins there.
void judgeElements(const std::string& compiler) {
  const TempDir dir;
  for (const char* level : {"-O1", "-O2"}) {
    const std::string binary =
        compile(dir, std::string("elements") + level, "c", std::string(kNoteInC) + kElements,
                std::string("-g ") + level, compiler);
    const auto module = symbols::Module::open(binary, "");
    BinaryTypes types(*module);
    LiveVariables live(*module, types);
    const LiveRun run = runStepByStep(binary, *module);
    size_t pointers = 0;
    for (const LiveAccess& access : run.accesses) {
      const NotedObject* truth = run.objectOf(access);
      if (truth == nullptr) continue;
      const auto found = live.objectsAt(access.access, access.ip, run.loadBias, access.registers,
                                        access.address, access.width);
      for (const CodeObject& object : found) {
        if (object.how != CodeObject::How::pointer) continue;
        pointers++;
        EXPECT_TRUE(!object.array || object.base == truth->base)
            << level << " `" << object.variable << "` at " << std::hex << access.access;
      }
    }
    EXPECT_GE(pointers, 6u) << level;
  }
}

TEST(LiveArrays, AConstantIndexIsNotZeroByGcc) {
  NEED_TOOL("gcc", "gcc");
  judgeElements("gcc");
}
TEST(LiveArrays, AConstantIndexIsNotZeroByClang) {
  NEED_TOOL("clang", "clang");
  judgeElements("clang");
}

const char* const kIterators = R"code(
#include <list>
#include <map>
struct stat { long hits = 0, misses = 0; };
static std::list<stat> stats(3);
static std::map<int, stat> by_name;
#define BARRIER() __asm__ volatile("" ::: "memory")
#define NOINLINE extern "C" __attribute__((noinline))
NOINLINE void hit() { for (auto it = stats.begin(); it != stats.end(); ++it) { it->hits++; BARRIER(); } }
NOINLINE void last(std::list<stat>& all) { auto it = all.end(); --it; it->misses++; BARRIER(); }
NOINLINE void miss(int name) { if (auto it = by_name.find(name); it != by_name.end()) { it->second.misses++; BARRIER(); } }
int main() {
  by_name[1];
  for (auto& in : stats) note("std::_List_node<stat>", (char*)&in - 16, 32, 1);
  note("std::_Rb_tree_node<std::pair<const int, stat>>|std::_Rb_tree_node<std::pair<int const, stat>>", (char*)&by_name[1] - 40, 56, 1);
  note("header", &stats, 16, 1);
  hit();
  last(stats);
  miss(1);
  return 0;
}
)code";

/// By its own type, its pointer leads to what all nodes begin with, as the container's end does.
void judgeIterators(const std::string& compiler) {
  const TempDir dir;
  const std::string binary =
      compile(dir, "iterators", "cpp", std::string(kNoteInC) + kIterators, "-g -O2", compiler);
  const auto module = symbols::Module::open(binary, "");
  BinaryTypes types(*module);
  LiveVariables live(*module, types);
  const TypeTable& table = types.table();
  const LiveRun run = runStepByStep(binary, *module);
  const auto function = [&](const LiveAccess& access) {
    const symbols::Symbol* symbol = module->image()->functionAt(access.access);
    return symbol == nullptr ? std::string_view() : symbol->name;
  };
  size_t hits = 0, misses = 0, header = 0;
  for (const LiveAccess& access : run.accesses) {
    const NotedObject* truth = run.objectOf(access);
    const std::string_view name = function(access);
    if (truth == nullptr || (name != "hit" && name != "last" && name != "miss")) continue;
    const auto found = live.objectsAt(access.access, access.ip, run.loadBias, access.registers,
                                      access.address, access.width);
    for (const CodeObject& object : found) {
      const std::string type = table.nameOf(object.type);
      if (object.variable != "it" && !truth->is(type)) continue;
      EXPECT_EQ(object.base, truth->base);
      const uint64_t links = truth->size == 56 ? 32 : 16;
      EXPECT_TRUE(access.address - object.base >= links
                      ? truth->is(type)
                      : object.variable != "it" || type.ends_with("_node_base"))
          << type;
      header += type.ends_with("_List_node_base") && truth->size == 16 ? 1 : 0;
      for (const std::string& member :
           membersAt(table, object.type, access.address - object.base, access.width)) {
        hits += member == "_M_storage.hits" ? 1 : 0;
        misses += member == "_M_storage.second.misses" ? 1 : 0;
      }
    }
  }
  EXPECT_GE(hits, 3u);
  EXPECT_GE(misses, 1u);
  EXPECT_GE(header, 1u) << "the list's own links, where end() leads";
}

TEST(LiveArrays, AnIteratorLeadsToItsNodeByGcc) {
  NEED_TOOL("g++", "g++");
  judgeIterators("g++");
}
TEST(LiveArrays, AnIteratorLeadsToItsNodeByClang) {
  NEED_TOOL("clang++", "clang");
  judgeIterators("clang++");
}

const char* const kVec = R"code(
pub struct Table { pub id: u64, pub weights: Vec<u32> }
#[no_mangle] #[inline(never)] pub fn weight(table: &Table, i: usize) -> u32 { table.weights[i] }
fn main() { std::hint::black_box(weight(std::hint::black_box(&Table { id: 1, weights: vec![1, 2] }), 1)); }
)code";

/// The pointer in it leads to bytes, by its own type.
TEST(LiveArrays, AVecLeadsToItsElements) {
  NEED_TOOL("rustc", "rustc");
  const TempDir dir;
  const std::string binary = compile(dir, "program", "rs", kVec, "-g -C opt-level=2", "rustc --edition 2021");
  const auto module = symbols::Module::open(binary, "");
  BinaryTypes types(*module);
  LiveVariables live(*module, types);
  uint64_t at = module->image()->addressOfSymbol("weight").value();
  decode::Instruction instruction;
  do {
    at += instruction.length;
    const auto code = module->image()->bytesAt(at, decode::kLongestInstruction);
    ASSERT_TRUE(decode::decodeInstruction(code, at, instruction));
  } while (instruction.operand.index == kRegNone);
  const auto operand = live.operandType(at);
  ASSERT_TRUE(operand);
  EXPECT_EQ(types.table().nameOf(operand->type), "u32");
  EXPECT_TRUE(operand->indexed);
}

const char* const kVirtualBase = R"code(
struct Counts { long made; };
struct Pool : virtual Counts { long used; virtual ~Pool() {} };
__attribute__((noinline)) void make(Pool* pool) {
  __asm__ volatile(".globl access_made\naccess_made: incq %0" : "+m"(pool->made));
}
int main() { Pool pool; pool.made = pool.used = 0; make(&pool); return 0; }
)code";

/// The distance to a virtual base is read from the object: it is no index, and what is there is not the first
/// member.
TEST(LiveArrays, TheDistanceToAVirtualBaseIsNoIndex) {
  const TempDir dir;
  NEED_TOOL("clang++", "clang");
  for (const char* compiler : {CACHELINE_TEST_CXX, "clang++"}) {
    const std::string binary = compile(dir, "virtual", "cpp", kVirtualBase, "-g -O2", compiler);
    const auto module = symbols::Module::open(binary, "");
    BinaryTypes types(*module);
    LiveVariables live(*module, types);
    EXPECT_FALSE(live.operandType(module->image()->addressOfSymbol("access_made").value()));
  }
}

}  // namespace
}  // namespace cacheline::inference::test
