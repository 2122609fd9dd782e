// The types of a recording's binaries, opened when they are asked for.
#pragma once

#include <memory>
#include <vector>

#include "analysis/binaries.h"
#include "inference/live_variables.h"
#include "layouts/binary_types.h"

namespace cacheline::analysis {

/// A binary's debug information, as far as it was asked for.
struct TypedBinary {
  std::shared_ptr<symbols::Module> module;
  std::unique_ptr<layouts::BinaryTypes> types;
  std::unique_ptr<inference::LiveVariables> live;
};

class TypedBinaries {
 public:
  /// `apart`: with debug information opened for it alone. Of binaries that described() was asked of, one
  /// thread can then ask for types while another one uses `binaries`.
  explicit TypedBinaries(Binaries& binaries, bool apart = false) : binaries_(binaries), apart_(apart) {}
  /// Whether it has debug information. The calls below answer nothing where it has none.
  bool described(uint32_t binary) { return entry(binary).module->dwarf() != nullptr; }
  /// The one that all below is read from.
  symbols::Module& module(uint32_t binary) { return *entry(binary).module; }
  layouts::BinaryTypes& types(uint32_t binary);
  const types::TypeTable& table(uint32_t binary) { return types(binary).table(); }
  inference::LiveVariables& live(uint32_t binary);
  Binaries& binaries() { return binaries_; }
  /// What is opened from now on is not opened apart: one thread asks.
  void share() { apart_ = false; }

 private:
  TypedBinary& entry(uint32_t binary);

  Binaries& binaries_;
  bool apart_;
  std::vector<std::shared_ptr<TypedBinary>> entries_;
};

}  // namespace cacheline::analysis
