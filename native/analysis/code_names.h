// Names and source positions of accessing instructions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/attribution.h"
#include "analysis/binaries.h"

namespace cacheline::analysis {

struct CodeName {
  std::string symbol;  ///< the out-of-line function, readable; empty where nothing names it
  std::string object;  ///< base name of the binary
  std::string file;
  uint32_t line = 0;
  std::vector<symbols::SourceFrame> inlined;  ///< see Access::inlined
};

/// Looks every code address up once.
class CodeNames {
 public:
  explicit CodeNames(Binaries& binaries) : binaries_(binaries) {}
  /// The reference is good until the next call.
  const CodeName& of(const Site& site);

 private:
  struct Key {
    uint64_t address = 0;
    uint32_t binary = 0;
    bool operator==(const Key&) const = default;
    size_t hash() const { return mix(address, binary); }
  };
  Binaries& binaries_;
  HashMap<Key, uint32_t> index_;
  std::vector<CodeName> names_;
};

}  // namespace cacheline::analysis
