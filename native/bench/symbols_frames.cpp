// Module::framesAt over 20,000 random code addresses, cold (index built) and warm, and the variable index.
// CACHELINE_BENCH_BINARY names the program; without it a C++ program of one large unit is compiled:
// containers and algorithms over many types, so that most addresses are several inlines deep.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <random>
#include <stdexcept>
#include <string>

#include "symbols/module.h"

namespace {

using namespace cacheline::symbols;

constexpr int kTypes = 60;

std::string compiledProgram() {
  std::string folder = "/tmp/cacheline-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot make " + folder);
  std::ofstream source(folder + "/program.cpp");
  source << R"code(#include <algorithm>
#include <map>
#include <string>
#include <vector>
template <int N> struct Key {
  long value;
  bool operator<(const Key& other) const { return (value ^ N) < (other.value ^ N); }
};
template <int N> __attribute__((noinline)) long work(long size) {
  std::vector<Key<N>> keys;
  for (long i = 0; i < size; i++) keys.push_back({i * N});
  std::sort(keys.begin(), keys.end());
  std::map<Key<N>, std::string> names;
  for (auto& key : keys) names[key] = std::to_string(key.value);
  long total = 0;
  for (auto& [key, name] : names) total += static_cast<long>(name.size()) + key.value;
  return total;
}
int main(int count, char**) {
  long total = 0;
)code";
  for (int i = 0; i < kTypes; i++) source << "  total += work<" << i << ">(count);\n";
  source << "  return static_cast<int>(total);\n}\n";
  source.close();
  const std::string program = folder + "/program";
  if (std::system(("c++ -std=c++20 -O2 -g -o " + program + " " + folder + "/program.cpp").c_str()) != 0)
    throw std::runtime_error("cannot compile " + folder + "/program.cpp");
  return program;
}

const std::string& binary() {
  static const std::string path = [] {
    const char* given = std::getenv("CACHELINE_BENCH_BINARY");
    return given != nullptr ? std::string(given) : compiledProgram();
  }();
  return path;
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

constexpr size_t kAddresses = 20000;

/// Opening, indexing and all look-ups: what one report pays.
void coldFrames(benchmark::State& state) {
  binary();
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
