// The command line of cacheline_synth.
#pragma once

#include <cstdint>
#include <string>

namespace cacheline::synth {

struct Options {
  std::string scenario, output;
  std::string binary;  ///< code addresses and static data lie in this ELF file; empty: nothing has a name
  std::string list;    ///< every sample as one line of text; empty: none
  std::string allocations;  ///< the heap agent's file of the heap lines, each a block; empty: none
  uint64_t seed = 1, samples = 20'000;
  uint64_t lines = 200;   ///< cache lines that the samples are spread over, unevenly
  uint64_t codes = 20;    ///< code addresses that access them
  uint64_t places = 4;    ///< the most that a line has; its first ones are accessed
  uint64_t variants = 2;  ///< instructions that load from one place of a line; half as many store to it
  uint32_t cpus = 8, processes = 3, threads = 4;  ///< threads: of each process
  bool callchains = false;
  bool registers = false;  ///< as perf record --intr-regs
  bool even = false;       ///< every line gets as many accesses; else a few get most
};

/// Throws Error(usage) with a sentence.
Options parseOptions(int argc, char** argv);

extern const char* const kUsage;

}  // namespace cacheline::synth
