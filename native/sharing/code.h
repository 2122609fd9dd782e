// Names and facts of sampled instructions, looked up once each.
#pragma once

#include <deque>

#include "analysis/code_names.h"
#include "sharing/judge.h"
#include "sharing/memory_collector.h"

namespace cacheline::sharing {

class Code {
 public:
  explicit Code(MemoryCollector& collector) : collector_(collector), names_(collector.binaries) {}

  struct Entry {
    bool known = false;
    uint64_t elfAddress = 0;  ///< 0: unknown
    uint32_t binary = analysis::kNone;
    CodeFacts facts;
    uint64_t function = 0;  ///< start of the function; of code without a symbol the address itself
  };
  const Entry& entry(uint32_t location);
  analysis::SharedName name(uint32_t location);
  /// Named before it is asked for, where they are code of files.
  void take(analysis::CodeNames::Batch& named) { names_.take(named); }

 private:
  CodeFacts factsOf(const SampledCode& location, const Entry& entry);
  uint32_t binaryOf(uint32_t backing);

  MemoryCollector& collector_;
  analysis::CodeNames names_;
  std::deque<Entry> entries_;                         ///< none moves
  HashMap<uint32_t, uint32_t> binaries_;              ///< by backing
  std::vector<analysis::Sweeps> sweeps_;              ///< by binary
  HashMap<uint32_t, analysis::SharedName> unbacked_;  ///< by backing: code of mappings that are no files
};

}  // namespace cacheline::sharing
