// Makes the samples: who accesses which line, when, by which instruction, and how it went.
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>

#include "binary.h"
#include "options.h"
#include "perfdata/writer.h"
#include "random.h"
#include "scenario.h"
#include "world.h"

namespace cacheline::synth {

class Sampler {
 public:
  /// `list` may be null: every sample is written to it as a line of text (see main.cpp).
  Sampler(const Options& options, const Scenario& scenario, const Binary& binary, const World& world,
          std::FILE* list);

  static constexpr uint64_t kStart = 1'000'000'000;  ///< no sample is earlier, in ns
  /// No sample is this late.
  uint64_t end() const;
  /// Appends all samples, CPU after CPU in rounds, as a recorder empties its buffers. Throws Error(io).
  void run(perfdata::Writer& writer);

 private:
  struct Sample {
    uint64_t ip, address, weight, source, physical;
    uint64_t callers[2];  ///< innermost first
    uint32_t pid, tid, cpu;
    uint16_t misc, event;
    const char* space;
    uint64_t key;  ///< first byte of the line in `space`
  };
  uint64_t rounds() const;
  Sample make(uint32_t cpu, uint64_t progress);
  void access(Sample& sample, const Line& line, uint32_t process, uint64_t number);
  uint64_t physicalOf(const Line& line, uint32_t process, uint64_t address, uint64_t progress);
  uint64_t latency(const Source& source);
  void append(std::vector<uint8_t>& out, const Sample& sample, uint64_t time) const;
  void note(const Sample& sample, uint64_t time) const;

  const Options& options_;
  const Scenario& scenario_;
  const Binary& binary_;
  const World& world_;
  std::FILE* list_;
  Random random_;
  std::vector<uint16_t> contended_, calm_, stores_;  ///< a thousand indices into the scenario's lists
};

}  // namespace cacheline::synth
