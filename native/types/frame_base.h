// What offsets of stack variables count from: the function's frame base and the call frame address (CFA).
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "symbols/module.h"
#include "types/location.h"

namespace cacheline::types {

/// Reads .debug_frame, else .eh_frame of the debug file, else .eh_frame of the binary itself. Not
/// thread-safe.
class CallFrames {
 public:
  explicit CallFrames(symbols::Module& module);
  ~CallFrames();
  CallFrames(const CallFrames&) = delete;
  CallFrames& operator=(const CallFrames&) = delete;

  /// The rule that gives the CFA while the instruction pointer is at an ELF address; null where the file has
  /// none.
  const Expression* cfaAt(uint64_t address);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// DW_AT_frame_base of a function as it is at an address; empty where it has none.
Expression frameBaseOf(Dwarf_Die function, uint64_t address);

}  // namespace cacheline::types
