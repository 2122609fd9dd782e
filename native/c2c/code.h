// Names and facts of sampled instructions, looked up once each.
#pragma once

#include <vector>

#include "analysis/code_names.h"
#include "c2c/collector.h"
#include "c2c/judge.h"

namespace cacheline::c2c {

class Code {
 public:
  explicit Code(Collector& collector) : collector_(collector), names_(collector.binaries) {}

  struct Entry {
    bool known = false;
    uint64_t elfAddress = 0;  ///< 0: unknown
    uint32_t binary = analysis::kNone;
    CodeFacts facts;
  };
  /// The reference is good until the next call.
  const Entry& entry(uint32_t site);
  analysis::CodeName name(uint32_t site);

 private:
  CodeFacts factsOf(const CodeSite& site, const Entry& entry);

  Collector& collector_;
  analysis::CodeNames names_;
  std::vector<Entry> entries_;
};

}  // namespace cacheline::c2c
