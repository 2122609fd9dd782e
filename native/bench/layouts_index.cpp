// The index of types built and read back, and one layout out of it. CACHELINE_BENCH_BINARY names the program;
// without it a C++ program of 2000 template types is compiled.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "layouts/binary_types.h"
#include "layouts/layout.h"
#include "layouts/type_index_cache.h"
#include "symbols/dwarf_index.h"
#include "symbols/module.h"

namespace {

using namespace cacheline;
using namespace cacheline::layouts;
using namespace cacheline::types;

std::string compiledProgram() {
  std::string folder = "/tmp/cacheline-bench-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("cannot make " + folder);
  std::ofstream source(folder + "/types.cpp");
  source << "#include <map>\n#include <string>\n"
            "template <int N> struct Row { int first; char text[N + 1]; std::map<int, std::string> all; long "
            "last; };\n";
  for (int i = 0; i < 2000; i++)
    source << "Row<" << i << ">* row" << i << "; char size" << i << "[sizeof *row" << i << "];\n";
  source.close();
  const std::string program = folder + "/types.so";
  if (std::system(("c++ -std=c++20 -g -shared -fPIC -o " + program + " " + folder + "/types.cpp").c_str()) !=
      0)
    throw std::runtime_error("cannot compile " + folder + "/types.cpp");
  return program;
}

const std::string& binary() {
  static const std::string path = [] {
    const char* given = std::getenv("CACHELINE_BENCH_BINARY");
    return given != nullptr ? std::string(given) : compiledProgram();
  }();
  return path;
}

void BuildIndex(benchmark::State& state) {
  uint64_t bytes = 0;
  for (auto _ : state) {
    const auto module = symbols::Module::open(binary(), "");
    const TypeIndex index = buildTypeIndex(*module->dwarf());
    state.counters["types"] = static_cast<double>(index.types.size());
    bytes += debugSections(module->dwarf()->handle()).debugBytes;
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}
BENCHMARK(BuildIndex)->Unit(benchmark::kMillisecond);

void ReadIndex(benchmark::State& state) {
  const auto module = symbols::Module::open(binary(), "");
  const std::string bytes = writeTypeIndex(buildTypeIndex(*module->dwarf()), 0);
  for (auto _ : state) benchmark::DoNotOptimize(readTypeIndex(bytes, 0));
  state.SetBytesProcessed(static_cast<int64_t>(bytes.size() * state.iterations()));
}
BENCHMARK(ReadIndex)->Unit(benchmark::kMillisecond);

void LayoutByName(benchmark::State& state) {
  const auto module = symbols::Module::open(binary(), "");
  BinaryTypes types(*module);
  const std::vector<TypeSummary> all = types.list();
  size_t next = 0;
  for (auto _ : state)
    for (const TypeId type : types.named(all[next++ % all.size()].name))
      benchmark::DoNotOptimize(layoutJson(layoutOf(types.table(), type, {})));
}
BENCHMARK(LayoutByName)->Unit(benchmark::kMicrosecond);

}  // namespace
