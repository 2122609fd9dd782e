// Which variable each access is reported by: one small function a rule, compiled by gcc and clang.
#include "inference/live_variables.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fixture.h"
#include "tests/inference/live_process.h"
#include "tests/inference/live_programs.h"

namespace cacheline::inference::test {
namespace {

using namespace types;
using namespace layouts;
using symbols::test::compile;
using symbols::test::TempDir;

const char* const kSource = R"code(
#include <atomic>
#include <span>
#define NOINLINE __attribute__((noinline))
struct Clock { long padding[3]; std::atomic<long> now{0}; };
struct Today { int day; long cents; };
struct Till { long id; Today today; Clock clock; Till* next; void take(long cents); };
NOINLINE void use(void* pointer) { __asm__ volatile("" : : "r"(pointer) : "memory", "rdi", "rsi", "rax"); }
NOINLINE void Till::take(long cents) { today.cents += cents; }
NOINLINE void on_stack(long by) { Clock local; note("Clock", &local, sizeof local, 1); local.now.fetch_add(by); use(&local); }
NOINLINE void parameter(Till* till) { till->id += 3; }
NOINLINE void inlined(Clock* clock) { clock->now.fetch_add(1); }
NOINLINE void nested(Till& till) { till.clock.now.fetch_add(1); till.today.day = 3; }
NOINLINE void element(Till* tills, long i) { tills[i].today.cents++; }
NOINLINE long span(std::span<Till> tills, unsigned long i) { return tills[i].id; }
NOINLINE long gone(Till* till) { Till* next = till->next; use(next); return next->id; }
NOINLINE void captured(Till* till) { auto pay = [till](long by) { till->today.cents += by; }; pay(2); }
NOINLINE void raw(void* memory) { __asm__ volatile("addq $1, (%0)" : : "r"(memory) : "memory"); }
int main() {
  auto* tills = new Till[3]; note("Till", tills, sizeof *tills, 3);
  tills[0].next = tills + 1;
  auto* clock = new Clock; note("Clock", clock, sizeof *clock, 1);
  on_stack(3); parameter(tills + 1); tills[1].take(3); inlined(clock); nested(tills[2]);
  element(tills, 2); long sum = span({tills, 3}, 1); sum += gone(tills); captured(tills); raw(tills);
  return sum == 7;
}
)code";

/// By function: "stack Clock local", "pointer Till[] tills", "tracked Till" of the accesses to noted objects;
/// a wrong base is said.
std::map<std::string, std::set<std::string>> answers(const std::string& binary) {
  auto module = symbols::Module::open(binary, "");
  BinaryTypes types(*module);
  LiveVariables live(*module, types);
  const LiveRun run = runStepByStep(binary, *module);
  std::map<std::string, std::set<std::string>> result;
  for (const LiveAccess& access : run.accesses) {
    const NotedObject* truth = run.objectOf(access);
    if (truth == nullptr) continue;
    std::string function = module->framesAt(access.access).back().function;
    function = function.substr(0, function.find('('));
    const auto objects = live.objectsAt(access.access, access.ip, run.loadBias, access.registers,
                                        access.address, access.width);
    if (objects.empty()) {
      result[function].insert("nothing");
      continue;
    }
    const CodeObject& object = objects.front();
    static const char* const kHow[] = {"stack", "pointer", "tracked"};
    std::string text = kHow[static_cast<size_t>(object.how)];
    text += " " + types.table().nameOf(object.type) + (object.array ? "[]" : "");
    if (!object.variable.empty()) text += " " + object.variable;
    const uint64_t ahead = object.base - truth->base;
    const bool first = object.array && object.how != CodeObject::How::propagated;
    if (object.base < truth->base || ahead % truth->size != 0 || (first && ahead != 0))
      text += " at a wrong place";
    result[function].insert(text);
  }
  return result;
}

std::string joined(const std::set<std::string>& texts) {
  std::string result;
  for (const std::string& text : texts) result += (result.empty() ? "" : ", ") + text;
  return result;
}

void expectNamed(const std::string& compiler, const std::string& level) {
  SCOPED_TRACE(compiler + " " + level);
  const TempDir dir;
  auto found =
      answers(compile(dir, "program", "cpp", std::string(kNoteInC) + kSource, "-g " + level, compiler));
  EXPECT_EQ(joined(found["on_stack"]), "stack Clock local");
  EXPECT_EQ(joined(found["parameter"]), "pointer Till till");
  EXPECT_EQ(joined(found["Till::take"]), "pointer Till this");
  EXPECT_EQ(joined(found["inlined"]), "pointer Clock clock");
  EXPECT_EQ(joined(found["nested"]), "pointer Till till");
  EXPECT_EQ(joined(found["element"]), "pointer Till[] tills");
  EXPECT_EQ(joined(found["span"]), "pointer Till[] tills");
  EXPECT_EQ(joined(found["captured"]), "pointer Till till");
}

TEST(LiveVariables, OptimisedByGcc) {
  NEED_TOOL("g++", "g++");
  expectNamed("g++", "-O2");
  expectNamed("g++", "-O1");
}

TEST(LiveVariables, OptimisedByClang) {
  NEED_TOOL("clang++", "clang");
  expectNamed("clang++", "-O2");
  expectNamed("clang++", "-O1");
}

/// After a call `till` is known by its entry value only: what it points to is not claimed by it.
TEST(LiveVariables, EntryValuesAreUnknown) {
  NEED_TOOL("g++", "g++");
  const TempDir dir;
  auto found = answers(compile(dir, "program", "cpp", std::string(kNoteInC) + kSource, "-g -O2", "g++"));
  EXPECT_EQ(joined(found["gone"]), "pointer Till next, pointer Till till");
}

/// At -O0 pointers are in memory, which a sample lacks: types are followed through their stack slots.
TEST(LiveVariables, UnoptimisedIsTracked) {
  NEED_TOOL("g++", "g++");
  const TempDir dir;
  auto found = answers(compile(dir, "program", "cpp", std::string(kNoteInC) + kSource, "-g -O0", "g++"));
  EXPECT_EQ(joined(found["parameter"]), "tracked Till");
  EXPECT_EQ(joined(found["Till::take"]), "tracked Till");
  EXPECT_EQ(joined(found["nested"]), "tracked Till");
  EXPECT_EQ(joined(found["gone"]), "tracked Till");
  EXPECT_EQ(joined(found["element"]), "tracked Till");
}

TEST(LiveVariables, NoTypeIsNothing) {
  NEED_TOOL("g++", "g++");
  const TempDir dir;
  auto found = answers(compile(dir, "program", "cpp", std::string(kNoteInC) + kSource, "-g -O2", "g++"));
  EXPECT_EQ(joined(found["raw"]), "nothing");
}

TEST(LiveVariables, WithoutDebugInformationNothing) {
  NEED_TOOL("g++", "g++");
  const TempDir dir;
  const std::string binary = compile(dir, "program", "cpp", std::string(kNoteInC) + kSource, "-O2", "g++");
  auto module = symbols::Module::open(binary, "");
  BinaryTypes types(*module);
  LiveVariables live(*module, types);
  const uint64_t entry = module->image()->addressOfSymbol("main").value();
  EXPECT_TRUE(live.objectsAt(entry, entry, 0, Registers{}, 0x1000, 8).empty());
  EXPECT_FALSE(live.operandType(entry));
}

}  // namespace
}  // namespace cacheline::inference::test
