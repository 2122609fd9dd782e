// LiveVariables: a sample at a known site, and the first question at every access of a program.
// CACHELINE_BENCH_BINARY names the program; without it a small C++ program is compiled, of which the access
// of fetch_add, inlined through two functions, is the site.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "decode/instruction.h"
#include "inference/live_variables.h"

namespace {

using namespace cacheline;

std::string compiledWorkers() {
  std::string folder = "/tmp/cacheline-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot make " + folder);
  std::ofstream source(folder + "/program.cpp");
  source << R"code(#include <atomic>
#include <map>
#include <string>
struct Clock { long padding[3]; std::atomic<long> now; long tick() { return now.fetch_add(1); } };
struct Worker { long id; Clock* clock; Worker* next; long count; };
inline long twice(Clock& clock) { return clock.tick() + clock.tick(); }
__attribute__((noinline)) long work(Clock* clock, Worker* worker, Worker* other, long times) {
  long sum = 0;
  for (long i = 0; i < times; i++) {
    Worker* next = worker->next;
    sum += twice(*clock) + next->count++ + other->id;
    worker = next;
  }
  return sum;
}
int main(int count, char**) {
  std::map<std::string, Worker> workers;
  Clock clock{};
  for (int i = 0; i < count; i++) workers[std::to_string(i)] = {i, &clock, nullptr, 0};
  for (auto& [name, worker] : workers) worker.next = &workers.begin()->second;
  Worker& first = workers.begin()->second;
  return static_cast<int>(work(&clock, &first, &first, count));
}
)code";
  source.close();
  const std::string program = folder + "/program";
  if (std::system(("c++ -std=c++20 -O2 -g -o " + program + " " + folder + "/program.cpp").c_str()) != 0)
    throw std::runtime_error("cannot compile " + folder + "/program.cpp");
  return program;
}

const std::string& compiled() {
  static const std::string path = compiledWorkers();
  return path;
}

const std::string& accessed() {
  static const char* const given = std::getenv("CACHELINE_BENCH_BINARY");
  static const std::string path = given != nullptr ? given : compiled();
  return path;
}

/// One sample at a site that was asked before.
void knownSite(benchmark::State& state) {
  auto module = symbols::Module::open(compiled(), "");
  layouts::BinaryTypes types(*module);
  inference::LiveVariables live(*module, types);
  uint64_t at = module->image()->addressOfSymbol("_Z4workP5ClockP6WorkerS2_l").value();
  decode::Instruction instruction;
  while (decode::decodeInstruction(module->image()->bytesAt(at, 15), at, instruction) &&
         !instruction.operand.locked)
    at += instruction.length;
  Registers registers;
  registers.mask = ~uint64_t{0};
  for (uint8_t reg = 0; reg < kRegCount; reg++) registers.value[reg] = 0x700000 + reg * 0x1000u;
  uint64_t address = 0;
  if (!decode::effectiveAddress(instruction.operand, registers, address))
    throw std::runtime_error("work() has no locked access");
  size_t objects = 0;
  for (auto _ : state)
    objects = live.objectsAt(at, at + instruction.length, 0x1000, registers, address, 8).size();
  state.counters["objects"] = static_cast<double>(objects);
}
BENCHMARK(knownSite);

/// All accesses of the program's functions: scopes, locations, types and tracking included.
void newSites(benchmark::State& state) {
  size_t sites = 0, typed = 0;
  for (auto _ : state) {
    auto module = symbols::Module::open(accessed(), "");
    layouts::BinaryTypes types(*module);
    inference::LiveVariables live(*module, types);
    sites = typed = 0;
    for (const symbols::Segment& segment : module->image()->segments()) {
      const auto code = module->image()->bytesAt(segment.address, segment.executable ? segment.fileSize : 0);
      for (size_t i = 0; i < code.size();) {
        decode::Instruction instruction;
        const bool known = decode::decodeInstruction(code.subspan(i), segment.address + i, instruction);
        if (known && instruction.accesses) {
          sites++;
          typed += live.operandType(segment.address + i).has_value();
        }
        i += known ? instruction.length : 1;
      }
    }
  }
  state.counters["sites"] = static_cast<double>(sites);
  state.counters["typed"] = static_cast<double>(typed);
  state.counters["us/site"] =
      benchmark::Counter(static_cast<double>(sites) / 1e6,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(newSites)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
