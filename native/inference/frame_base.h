// What offsets of stack variables count from: the function's frame base and the call frame address (CFA).
#pragma once

#include <elfutils/libdw.h>

#include <array>
#include <cstdint>
#include <memory>

#include "inference/location.h"
#include "symbols/module.h"

namespace cacheline::inference {

/// How the registers of a function's caller are found (DWARF 5, 6.4). Of those that calls preserve.
struct FrameRules {
  struct Rule {
    enum class Kind : uint8_t { undefined, same, place };
    Kind kind = Kind::same;
    Expression place;  ///< the register's memory or value, in terms of the CFA
  };
  static constexpr std::array<uint8_t, 6> kPreserved = {kRegBx, kRegBp, kRegR12, kRegR13, kRegR14, kRegR15};
  Expression cfa;                                 ///< the caller's stack pointer
  Rule returnAddress;                             ///< undefined: nobody called
  std::array<Rule, kPreserved.size()> preserved;  ///< in the order of kPreserved
};

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
  /// All rules there; null where the file has none.
  const FrameRules* rulesAt(uint64_t address);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// DW_AT_frame_base of a function as it is at an address; empty where it has none.
Expression frameBaseOf(Dwarf_Die function, uint64_t address);

}  // namespace cacheline::inference
