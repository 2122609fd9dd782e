// The types of a recording's binaries, opened when they are asked for.
#pragma once

#include <memory>
#include <vector>

#include "analysis/binaries.h"
#include "types/binary_types.h"
#include "types/live_variables.h"

namespace cacheline::analysis {

class TypedBinaries {
 public:
  explicit TypedBinaries(Binaries& binaries) : binaries_(binaries) {}
  /// Whether it has debug information. The calls below answer nothing where it has none.
  bool described(uint32_t binary) { return binaries_.module(binary).dwarf() != nullptr; }
  types::BinaryTypes& types(uint32_t binary);
  const types::TypeTable& table(uint32_t binary) { return types(binary).table(); }
  types::LiveVariables& live(uint32_t binary);
  Binaries& binaries() { return binaries_; }

 private:
  struct Entry {
    std::unique_ptr<types::BinaryTypes> types;
    std::unique_ptr<types::LiveVariables> live;
  };
  Entry& entry(uint32_t binary);

  Binaries& binaries_;
  std::vector<Entry> entries_;
};

}  // namespace cacheline::analysis
