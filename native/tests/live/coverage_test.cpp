// Every access of small programs to objects whose type they say themselves: how many are named, how many
// right.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

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
using symbols::test::haveTool;
using symbols::test::TempDir;

struct Score {
  size_t accesses = 0, named = 0, right = 0;
  size_t followed = 0, followedRight = 0;  ///< by operandType(), without registers
};

std::string plainName(const TypeTable& table, TypeId type) {
  return table.nameOf(table.strip(type));
}

/// A type's name is one of those that the object has; the first is its own, others may be inside of it.
bool isRight(const TypeTable& table, const NotedObject& truth, const CodeObject& object, uint64_t address) {
  const std::string name = plainName(table, object.type);
  const uint64_t size = table.sizeOf(object.type).value_or(1);
  const uint64_t inside = object.array ? (address - object.base) % size : address - object.base;
  if (!truth.is(name)) return false;
  if (inside == (address - truth.base) % truth.size) return true;
  return truth.type.rfind(name + "|", 0) != 0 && truth.type != name && truth.contains(object.base);
}

Score score(const std::string& binary, bool say) {
  auto module = symbols::Module::open(binary, "");
  BinaryTypes types(*module);
  LiveVariables live(*module, types);
  const LiveRun run = runStepByStep(binary, *module);
  Score score;
  for (const LiveAccess& access : run.accesses) {
    const NotedObject* truth = run.objectOf(access);
    if (truth == nullptr) continue;
    score.accesses++;
    const auto objects = live.objectsAt(access.access, access.ip, run.loadBias, access.registers,
                                        access.address, access.width);
    const auto operand = live.operandType(access.access);
    std::string answer = "nothing", followed = "nothing";
    if (!objects.empty()) {
      const CodeObject& object = objects.front();
      const bool right = isRight(types.table(), *truth, object, access.address);
      score.named++;
      score.right += right;
      answer = right ? "right"
                     : plainName(types.table(), object.type) + " at " +
                           std::to_string(static_cast<int64_t>(access.address - object.base)) + " by " +
                           object.variable;
    }
    if (operand) {
      const std::string name = plainName(types.table(), operand->type);
      const bool right = truth->is(name);
      score.followed++;
      score.followedRight += right;
      followed = right ? "right" : name + " at " + std::to_string(operand->offset);
    }
    if (say && (answer != "right" || followed != "right"))
      std::cerr << std::hex << access.access << std::dec << " "
                << module->framesAt(access.access).back().function << ": " << truth->type << "+"
                << (access.address - truth->base) % truth->size << ": " << answer
                << "; followed: " << followed << "\n";
  }
  return score;
}

struct Level {
  const char* flags;
  double named, right;  ///< at least, shares of the accesses and of the named ones
};

void judge(const std::string& extension, const std::string& source, const std::string& compiler,
           std::initializer_list<Level> levels) {
  const TempDir dir;
  const bool say = std::getenv("CACHELINE_SAY") != nullptr;
  for (const Level& level : levels) {
    const std::string name = "program" + std::to_string(&level - levels.begin());
    const std::string flags = std::string("-g ") + level.flags;
    const Score result = score(compile(dir, name, extension, source, flags, compiler), say);
    std::cout << compiler << " " << level.flags << ": " << result.accesses << " accesses, " << result.named
              << " named, " << result.right << " right; without registers " << result.followed << ", "
              << result.followedRight << " right\n";
    ASSERT_GT(result.accesses, 20u);
    EXPECT_GE(static_cast<double>(result.named), level.named * static_cast<double>(result.accesses)) << flags;
    EXPECT_GE(static_cast<double>(result.right), level.right * static_cast<double>(result.named)) << flags;
    EXPECT_GE(static_cast<double>(result.followedRight), level.right * static_cast<double>(result.followed))
        << flags;
  }
}

TEST(LiveCoverage, CppByGcc) {
  NEED_TOOL("g++", "g++");
  judge("cpp", std::string(kNoteInC) + kHeapObjectsInCpp, "g++",
        {{"-O0", 0.9, 0.7}, {"-O1", 0.9, 0.95}, {"-O2", 0.9, 0.95}});
}
TEST(LiveCoverage, CppByClang) {
  NEED_TOOL("clang++", "clang");
  judge("cpp", std::string(kNoteInC) + kHeapObjectsInCpp, "clang++",
        {{"-O0", 0.9, 0.7}, {"-O1", 0.9, 0.95}, {"-O2", 0.9, 0.95}});
}
TEST(LiveCoverage, CByGcc) {
  NEED_TOOL("gcc", "gcc");
  judge("c", std::string(kNoteInC) + kHeapObjectsInC, "gcc",
        {{"-O0", 0.9, 0.95}, {"-O1", 0.9, 0.95}, {"-O2", 0.9, 0.95}});
}
TEST(LiveCoverage, CByClang) {
  NEED_TOOL("clang", "clang");
  judge("c", std::string(kNoteInC) + kHeapObjectsInC, "clang",
        {{"-O0", 0.9, 0.95}, {"-O1", 0.9, 0.95}, {"-O2", 0.9, 0.95}});
}
TEST(LiveCoverage, ContainersByGcc) {
  NEED_TOOL("gcc", "gcc");
  judge("c", std::string(kNoteInC) + kContainersInC, "gcc",
        {{"-O0", 0.9, 0.95}, {"-O1", 0.9, 0.95}, {"-O2", 0.9, 0.95}});
}
TEST(LiveCoverage, ContainersByClang) {
  NEED_TOOL("clang", "clang");
  judge("c", std::string(kNoteInC) + kContainersInC, "clang",
        {{"-O0", 0.9, 0.95}, {"-O1", 0.9, 0.95}, {"-O2", 0.9, 0.95}});
}
TEST(LiveCoverage, RustByRustc) {
  NEED_TOOL("rustc", "rustc");
  judge("rs", kHeapObjectsInRust, "rustc --edition 2021 --crate-name program",
        {{"-C opt-level=2", 0.8, 0.9}});
}

}  // namespace
}  // namespace cacheline::inference::test
