// Every access of small programs to objects whose type they say themselves: how many are named, how many
// right.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "fixture.h"
#include "tests/types/live_process.h"
#include "types/field_path.h"
#include "types/live_variables.h"

namespace cacheline::types::test {
namespace {

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

Score score(const std::string& binary, bool say) {
  auto module = symbols::Module::open(binary, "");
  BinaryTypes types(*module);
  LiveVariables live(*module, types);
  const LiveRun run = runStepByStep(binary, *module);
  Score score;
  for (const LiveAccess& access : run.accesses) {
    const NotedObject* truth = run.objectAt(access.address);
    if (truth == nullptr) continue;
    score.accesses++;
    const uint64_t offset = (access.address - truth->base) % truth->size;
    const auto objects =
        live.objectsAt(access.access, access.ip, run.slide, access.registers, access.address, access.width);
    const auto operand = live.operandType(access.access);
    std::string answer = "nothing", followed = "nothing";
    if (!objects.empty()) {
      score.named++;
      const CodeObject& object = objects.front();
      const uint64_t size = types.table().sizeOf(object.type).value_or(1);
      const uint64_t inside =
          object.array ? (access.address - object.base) % size : access.address - object.base;
      answer =
          plainName(types.table(), object.type) + "+" + std::to_string(inside) + " by " + object.variable;
      if (plainName(types.table(), object.type) == truth->type && inside == offset) {
        score.right++;
        answer = "right";
      }
    }
    if (operand) {
      score.followed++;
      followed = plainName(types.table(), operand->type) + "+" + std::to_string(operand->offset);
      if (plainName(types.table(), operand->type) == truth->type &&
          (operand->indexed || operand->offset == offset)) {
        score.followedRight++;
        followed = "right";
      }
    }
    if (say && (answer != "right" || followed != "right"))
      std::cerr << std::hex << access.access << std::dec << " "
                << module->framesAt(access.access).back().function << ": " << truth->type << "+" << offset
                << ": " << answer << "; followed: " << followed << "\n";
  }
  return score;
}

const std::string& heapObjectsInCpp() {
  static const std::string source = std::string(kNoteInC) + R"code(
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>
struct Clock { long padding[3]; std::atomic<long> now{0}; std::atomic<int> readers{0}; };
struct Inner { int kind; long total; };
struct Worker { long id; Inner inner[2]; Clock* clock; Worker* next; long count; double weight; };
struct Shape { virtual ~Shape() = default; virtual long area() { return side * side; } long side = 3; long uses = 0; };
struct Square : Shape { long area() override { uses++; return side * side + extra; } long extra = 1; };
struct Pool {
  Worker* workers; unsigned long size; std::unique_ptr<Clock> clock; std::atomic<Worker*> current{nullptr};
  void bump(unsigned long i) { workers[i].count++; }
  long tick() { return clock->now.fetch_add(1, std::memory_order_relaxed); }
};
#define NOINLINE __attribute__((noinline))
NOINLINE long tick(Clock* clock, int times) { long sum = 0; for (int i = 0; i < times; i++) sum += clock->now.fetch_add(1); return sum; }
NOINLINE void fill(Worker* workers, int n, Clock* clock) {
  for (int i = 0; i < n; i++) { workers[i].id = i; workers[i].clock = clock; workers[i].next = i + 1 < n ? &workers[i + 1] : nullptr; workers[i].count = 0; workers[i].weight = 1; }
}
NOINLINE long walk(const Worker* worker) { long sum = 0; for (; worker; worker = worker->next) sum += worker->count + worker->clock->now.load(); return sum; }
NOINLINE void inner(Worker& worker, int i) { worker.inner[i & 1].total += i; worker.inner[1].kind = i; }
NOINLINE double weigh(std::span<Worker> workers) { double sum = 0; for (auto& worker : workers) sum += worker.weight; return sum; }
NOINLINE void add(std::vector<Worker*>& list) { for (Worker* worker : list) worker->count += 2; }
NOINLINE long shapes(Shape* shape) { shape->uses++; return shape->area(); }
NOINLINE void lambda(Worker* worker, Clock& clock) {
  auto step = [&, worker](int by) { worker->count += by; clock.readers.fetch_add(by); };
  for (int i = 0; i < 3; i++) step(i);
}
NOINLINE void pool(Pool& pool) { for (unsigned long i = 0; i < pool.size; i++) { pool.bump(i); pool.tick(); } pool.current = pool.workers; pool.current.load()->count++; }
Worker* everywhere;
NOINLINE void global() { everywhere->count++; everywhere->clock->readers++; }
NOINLINE void* body(void* argument) { auto* worker = static_cast<Worker*>(argument); for (int i = 0; i < 4; i++) { worker->count++; worker->clock->now++; } return nullptr; }
int main() {
  auto* clock = new Clock; note("Clock", clock, sizeof *clock, 1);
  auto* workers = new Worker[4]; note("Worker", workers, sizeof *workers, 4);
  fill(workers, 4, clock);
  long sum = tick(clock, 4) + walk(workers);
  inner(workers[2], 3); sum += static_cast<long>(weigh({workers, 4}));
  std::vector<Worker*> list{workers, workers + 2}; add(list);
  Shape* square = new Square; note("Shape", square, sizeof *square, 1);
  sum += shapes(square);
  lambda(workers + 1, *clock);
  auto* all = new Pool{workers, 4, std::make_unique<Clock>(), {}};
  note("Pool", all, sizeof *all, 1); note("Clock", all->clock.get(), sizeof(Clock), 1);
  pool(*all); everywhere = workers + 3; global(); body(workers);
  return sum == 12345;
}
)code";
  return source;
}

TEST(LiveCoverage, CppObjectsOnTheHeap) {
  const TempDir dir;
  const bool say = std::getenv("CACHELINE_SAY") != nullptr;
  for (const std::string compiler : {"g++", "clang++"}) {
    if (!haveTool(compiler)) GTEST_SKIP() << "needs " << compiler << ": apt-get install g++ clang";
    for (const std::string level : {"-O0", "-O1", "-O2"}) {
      const std::string binary =
          compile(dir, compiler + level, "cpp", heapObjectsInCpp(), "-g " + level, compiler);
      const Score result = score(binary, say);
      std::cout << compiler << " " << level << ": " << result.accesses << " accesses, " << result.named
                << " named, " << result.right << " right; followed " << result.followed << ", "
                << result.followedRight << " right\n";
    }
  }
}

}  // namespace
}  // namespace cacheline::types::test
