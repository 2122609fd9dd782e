// Thread-local variables and what thread-local pointers lead to, in executables and in libraries.
#include <gtest/gtest.h>

#include "decode/instruction.h"
#include "inference/live_variables.h"
#include "tests/inference/live_process.h"
#include "tests/inference/live_programs.h"
#include "types_fixture.h"

namespace cacheline::inference::test {
namespace {

using namespace types;
using namespace layouts;
using namespace types::test;

const char* const kThreadLocals = R"code(
struct block { long taken; int history[6]; };
struct totals { long padding[2]; struct { long hits, misses; } cache; struct block* last; };
static _Thread_local struct block* mine;
_Thread_local struct totals totals;
static _Thread_local struct block blocks[4];
_Thread_local long count = 3;
#define NOINLINE __attribute__((noinline))
NOINLINE void take(unsigned number) { mine->taken += number; mine->history[number % 6]++; }
NOINLINE void tally(long by) { totals.cache.misses += by; totals.last->taken++; }
NOINLINE void spread(int from, int to) { for (int i = from; i < to; i++) blocks[i].taken++; }
NOINLINE void step(void) { count++; }
NOINLINE struct totals* address(void) { return &totals; }
NOINLINE void enter(struct block* block) { mine = block; totals.last = block; }
)code";

const char* const kMain = R"code(
static struct block own;
int main(void) {
  note("block", &own, sizeof own, 1); note("totals", &totals, sizeof totals, 1);
  note("block|block[4]", blocks, sizeof blocks[0], 4); note("long|long int", &count, sizeof count, 1);
  enter(&own);
  for (int i = 0; i < 4; i++) { take((unsigned)i); tally(i); spread(i, 4); step(); }
  address()->cache.hits++;
  return 0;
}
)code";

/// What the operands of a function lead to, in the order of its code: "member", "variable: member".
std::string operandsOf(Program& program, LiveVariables& live, const std::string& function) {
  const symbols::ElfImage& image = *program.module().image();
  const uint64_t start = image.addressOfSymbol(function).value();
  const uint64_t end = start + image.functionAt(start)->size;
  std::string all;
  decode::Instruction instruction;
  for (uint64_t at = start; at < end; at += instruction.length) {
    if (!decode::decodeInstruction(image.bytesAt(at, end - at), at, instruction)) return "no code";
    const auto operand = live.operandType(at);
    if (!operand) continue;
    std::string one;
    for (const FieldPath& field :
         fieldsAt(program.table(), operand->type, operand->offset, instruction.operand.width))
      one += field.path;
    one = (operand->variable.empty() ? "" : operand->variable + ": ") + one;
    if (all.find(one) == std::string::npos) all += (all.empty() ? "" : ", ") + one;
  }
  return all;
}

void judgeExecutable(const std::string& compiler) {
  const TempDir dir;
  for (const std::string flags : {"-O0 -no-pie", "-O0 -fPIE -pie", "-O1 -fPIE -pie", "-O2 -no-pie",
                                  "-O2 -fPIE -pie", "-O2 -fPIE -static-pie", "-O2 -fPIC -pie -gdwarf-4"}) {
    const std::string binary =
        compile(dir, "program", "c", std::string(kNoteInC) + kThreadLocals + kMain, "-g " + flags, compiler);
    const auto module = symbols::Module::open(binary, "");
    BinaryTypes types(*module);
    LiveVariables live(*module, types);
    const LiveRun run = runStepByStep(binary, *module);
    size_t accesses = 0, right = 0, itself = 0;
    for (const LiveAccess& access : run.accesses) {
      const NotedObject* truth = run.objectOf(access);
      if (truth == nullptr) continue;
      accesses++;
      const auto operand = live.operandType(access.access);
      if (!operand) continue;
      EXPECT_TRUE(truth->is(types.table().nameOf(types.table().strip(operand->type))))
          << compiler << ' ' << flags << std::hex << " at " << access.access;
      right++;
      const auto objects = live.objectsAt(access.access, access.ip, run.loadBias, access.registers,
                                          access.address, access.width);
      for (const CodeObject& object : objects) {
        if (object.how != CodeObject::How::threadLocal) continue;
        EXPECT_EQ(object.base, truth->base) << compiler << ' ' << flags << ' ' << object.variable;
        itself++;
      }
    }
    ASSERT_GT(accesses, 30u) << compiler << ' ' << flags;
    EXPECT_GE(right * 100, accesses * 90) << compiler << ' ' << flags << ": " << right << " of " << accesses;
    EXPECT_GE(itself, 9u) << compiler << ' ' << flags;
  }
}

TEST(ThreadLocals, OfAnExecutableByGcc) {
  NEED_TOOL("gcc", "gcc");
  judgeExecutable("gcc");
}
TEST(ThreadLocals, OfAnExecutableByClang) {
  NEED_TOOL("clang", "clang");
  judgeExecutable("clang");
}

const char* const kOfAnother = R"code(
extern _Thread_local struct block* theirs;
NOINLINE void foreign(void) { theirs->taken++; }
)code";

void judgeLibrary(const std::string& compiler, const std::string& flags) {
  SCOPED_TRACE(compiler + " " + flags);
  const TempDir dir;
  Program program(dir, "c", std::string(kThreadLocals) + kOfAnother, flags, compiler);
  LiveVariables live(program.module(), program.types());
  EXPECT_EQ(operandsOf(program, live, "take"), "mine: , taken, history[0]");
  EXPECT_EQ(operandsOf(program, live, "tally"), "totals: cache.misses, totals: last, taken");
  EXPECT_EQ(operandsOf(program, live, "step"), "count: ");
  EXPECT_TRUE(operandsOf(program, live, "spread").starts_with("blocks: [0].taken"));  // clang unrolls it
  if (flags.find("local-dynamic") != std::string::npos) return;  // says that nothing is defined elsewhere
  // clang does not describe what is.
  EXPECT_EQ(operandsOf(program, live, "foreign"), compiler == "gcc" ? "theirs: , taken" : "");
}

TEST(ThreadLocals, OfALibraryByEveryModel) {
  for (const char* compiler : {"gcc", "clang"}) {
    if (!haveTool(compiler)) continue;
    for (const char* model : {"global-dynamic", "local-dynamic", "initial-exec"})
      for (const char* level : {"-O0", "-O2"})
        judgeLibrary(compiler, std::string(level) + " -ftls-model=" + model);
    judgeLibrary(compiler, "-O2 -gdwarf-4");
  }
  // gcc 12 states addresses in place of offsets there.
  if (haveTool("clang"))
    for (const char* flags : {"-O2 -gdwarf-4 -gsplit-dwarf", "-O2 -gsplit-dwarf"})
      judgeLibrary("clang", flags);
}

const char* const kAcrossDescriptors = R"code(
NOINLINE void late(void* raw) {
  count += *(long*)raw;
  struct block* known = raw;
  known->history[1]++;
}
NOINLINE long second(struct block** from, long by) {
  long sum = count + by;
  return from[1]->taken += sum;
}
)code";

/// The function of a descriptor (-mtls-dialect=gnu2) returns the distance from the thread pointer in rax, and
/// keeps all other registers.
TEST(ThreadLocals, OfALibraryByDescriptors) {
  bool any = false;
  for (const char* compiler : {"gcc", "clang"}) {
    const std::string tried = std::string(compiler) + " -mtls-dialect=gnu2 -x c -c /dev/null -o /dev/null";
    if (symbols::test::run(tried + " 2>/dev/null").status != 0) continue;
    any = true;
    for (const char* model : {"global-dynamic", "local-dynamic"})
      for (const char* level : {"-O0", "-O1", "-O2"})
        judgeLibrary(compiler, std::string(level) + " -mtls-dialect=gnu2 -ftls-model=" + model);
    judgeLibrary(compiler, "-O2 -mtls-dialect=gnu2 -gdwarf-4");
    if (std::string(compiler) != "gcc") continue;  // what follows is the order of its code

    const TempDir dir;
    Program program(dir, "c", std::string(kThreadLocals) + kAcrossDescriptors, "-O2 -mtls-dialect=gnu2",
                    compiler);
    LiveVariables live(program.module(), program.types());
    EXPECT_EQ(operandsOf(program, live, "late"), "taken, count: , history[1]");
    EXPECT_EQ(operandsOf(program, live, "second"), "count: , taken");
  }
  if (!any) GTEST_SKIP() << "needs a compiler with TLS descriptors: apt-get install gcc";
}

const char* const kInitialised = R"code(
struct stats { long since, hits; explicit stats(long from) : since(from), hits(0) {} };
long now();
thread_local stats made(now());
static thread_local stats hidden(now());
namespace shop {
namespace { thread_local stats till(now()); }
struct desk { static thread_local stats own; };
thread_local stats desk::own(now());
}
extern thread_local stats theirs;
extern "C" {
void count_made() { made.hits++; }
void count_hidden() { hidden.hits++; }
void count_till() { shop::till.hits++; }
void count_own() { shop::desk::own.hits++; }
void count_theirs() { theirs.hits++; }
}
)code";

/// Without optimisation C++ code calls a function for the address, which has no debug information.
TEST(ThreadLocals, OfCxxByTheirWrappers) {
  for (const char* compiler : {"g++", "clang++"}) {
    if (!haveTool(compiler)) continue;
    SCOPED_TRACE(compiler);
    const TempDir dir;
    Program program(dir, "cpp", kInitialised, "-O0", compiler);
    LiveVariables live(program.module(), program.types());
    EXPECT_EQ(operandsOf(program, live, "count_made"), "made: hits");
    EXPECT_EQ(operandsOf(program, live, "count_hidden"), "hidden: hits");
    EXPECT_EQ(operandsOf(program, live, "count_till"), "shop::(anonymous namespace)::till: hits");
    EXPECT_EQ(operandsOf(program, live, "count_own"), "shop::desk::own: hits");
    const bool isDescribed = std::string(compiler) == "g++";
    EXPECT_EQ(operandsOf(program, live, "count_theirs"), isDescribed ? "theirs: hits" : "");
  }
}

const char* const kInRust = R"code(
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
pub struct Desk { hits: AtomicU64, misses: AtomicU64 }
fn desk() -> Desk { Desk { hits: AtomicU64::new(std::process::id() as u64), misses: AtomicU64::new(0) } }
thread_local! {
    static FIXED: Desk = const { Desk { hits: AtomicU64::new(0), misses: AtomicU64::new(0) } };
    static LAZY: Desk = desk();
}
#[no_mangle] pub fn fixed() { FIXED.with(|desk| desk.misses.fetch_add(1, SeqCst)); }
#[no_mangle] pub fn lazy() { LAZY.with(|desk| desk.misses.fetch_add(1, SeqCst)); }
#[no_mangle] pub fn inner() {
    let count = || {
        thread_local! { static OWN: AtomicU64 = const { AtomicU64::new(0) }; }
        OWN.with(|own| own.fetch_add(1, SeqCst))
    };
    count();
}
)code";

TEST(ThreadLocals, OfRust) {
  NEED_TOOL("rustc", "rustc");
  for (const std::string mangling : {"", " -C symbol-mangling-version=v0"}) {
    SCOPED_TRACE(mangling);
    const TempDir dir;
    symbols::test::writeFile(dir.file("shop.rs"), kInRust);
    symbols::test::mustRun("cd " + dir.path() + " && rustc --edition 2021 -g -O --crate-type cdylib" +
                           mangling + " -o lib.so shop.rs 2>&1");
    Program program(dir.file("lib.so"));
    LiveVariables live(program.module(), program.types());
    EXPECT_EQ(operandsOf(program, live, "fixed"), "shop::FIXED: misses");
    EXPECT_TRUE(operandsOf(program, live, "lazy").starts_with("shop::LAZY: state, shop::LAZY: value.misses"))
        << operandsOf(program, live, "lazy");
    const std::string inner = operandsOf(program, live, "inner");  // between them {{closure}}, {closure#0}
    EXPECT_TRUE(inner.starts_with("shop::inner::{") && inner.ends_with("}::OWN: ")) << inner;
  }
}

/// The linker leaves the debug information of what it drops, at the place of what it keeps.
TEST(ThreadLocals, DroppedByTheLinker) {
  const TempDir dir;
  const std::string source =
      "_Thread_local long long dropped[8] = {1};\n_Thread_local long kept = 1;\n"
      "_Thread_local long second = 1;\nlong one(void) { return kept; }\nlong two(void) { return second; }\n"
      "int main(void) { return (int)(one() + two()); }\n";
  Program program(
      compile(dir, "program", "c", source, "-g -O1 -fno-inline -fdata-sections -Wl,--gc-sections"));
  LiveVariables live(program.module(), program.types());
  // Which of the two comes first, and is not known, is up to the linker.
  const std::string named = operandsOf(program, live, "one") + operandsOf(program, live, "two");
  EXPECT_TRUE(named == "kept: " || named == "second: ") << named;
}

const char* const kInHeader = R"code(
struct stats { long since, hits; explicit stats(long from) : since(from), hits(0) {} };
long now();
inline thread_local stats shared(now());
struct desk { static inline thread_local stats own{now()}; };
static thread_local stats hidden(now());
)code";

/// Each unit describes what the header defines, and the linker keeps one; of `static` ones it keeps all.
TEST(ThreadLocals, OfAHeaderOfSeveralUnits) {
  for (const char* compiler : {"g++", "clang++"}) {
    if (!haveTool(compiler)) continue;
    SCOPED_TRACE(compiler);
    const TempDir dir;
    symbols::test::writeFile(dir.file("shared.h"), kInHeader);
    std::string units;
    for (const std::string unit : {"one", "two"}) {
      units += " " + unit + ".cpp";
      symbols::test::writeFile(dir.file(unit + ".cpp"),
                               "#include \"shared.h\"\nextern \"C\" {\nvoid count_shared_" + unit +
                                   "() { shared.hits++; }\nvoid count_own_" + unit +
                                   "() { desk::own.hits++; }\nvoid count_hidden_" + unit +
                                   "() { hidden.hits++; }\n}\n");
    }
    symbols::test::mustRun("cd " + dir.path() + " && " + compiler +
                           " -std=c++17 -g -O0 -fPIC -shared -o lib.so" + units);
    Program program(dir.file("lib.so"));
    LiveVariables live(program.module(), program.types());
    for (const std::string unit : {"one", "two"}) {
      EXPECT_EQ(operandsOf(program, live, "count_shared_" + unit), "shared: hits");
      EXPECT_EQ(operandsOf(program, live, "count_own_" + unit), "desk::own: hits");
      EXPECT_EQ(operandsOf(program, live, "count_hidden_" + unit), "") << "there are two";
    }
  }
}

}  // namespace
}  // namespace cacheline::inference::test
