// Frames per second of Module::framesAt over random code addresses, cold (index built) and warm, and the
// variable index. CACHELINE_BENCH_BINARY names the program; without it this benchmark program itself, which
// has inlines in plenty.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <random>

#include "symbols/module.h"

namespace {

using namespace cacheline::symbols;

std::string binary() {
  const char* path = std::getenv("CACHELINE_BENCH_BINARY");
  return path != nullptr ? path : "/proc/self/exe";
}

std::vector<uint64_t> randomCode(const ElfImage& image, size_t count) {
  std::vector<uint64_t> addresses;
  std::mt19937_64 random(1);
  for (const Segment& segment : image.segments())
    while (segment.executable && segment.fileSize != 0 && addresses.size() < count) {
      const uint64_t address = segment.address + random() % segment.fileSize;
      if (image.functionAt(address) != nullptr) addresses.push_back(address);
    }
  return addresses;
}

constexpr size_t kAddresses = 10000;

/// Opening, indexing and 10,000 look-ups: what one report pays.
void coldFrames(benchmark::State& state) {
  size_t frames = 0;
  for (auto _ : state) {
    auto module = Module::open(binary(), "");
    for (uint64_t address : randomCode(*module->image(), kAddresses))
      frames += module->framesAt(address).size();
  }
  state.counters["frames/s"] = benchmark::Counter(static_cast<double>(frames), benchmark::Counter::kIsRate);
}
BENCHMARK(coldFrames)->Unit(benchmark::kMillisecond);

void warmFrames(benchmark::State& state) {
  auto module = Module::open(binary(), "");
  const auto addresses = randomCode(*module->image(), kAddresses);
  for (uint64_t address : addresses) module->framesAt(address);
  size_t frames = 0;
  for (auto _ : state)
    for (uint64_t address : addresses) frames += module->framesAt(address).size();
  state.counters["frames/s"] = benchmark::Counter(static_cast<double>(frames), benchmark::Counter::kIsRate);
}
BENCHMARK(warmFrames)->Unit(benchmark::kMillisecond);

void variableIndex(benchmark::State& state) {
  for (auto _ : state) {
    auto module = Module::open(binary(), "");
    benchmark::DoNotOptimize(module->variableAt(module->image()->segments().back().address));
  }
}
BENCHMARK(variableIndex)->Unit(benchmark::kMillisecond);

}  // namespace
