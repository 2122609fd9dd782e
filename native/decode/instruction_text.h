// Instructions as text, for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace cacheline::decode {

struct InstructionText {
  size_t length = 0;  ///< bytes
  /// AT&T syntax, as perf and objdump write it; jumps, calls and RIP-relative operands name whole addresses.
  std::string text;
  std::optional<uint64_t> target;  ///< of a direct jump or call
};

/// The x86-64 instruction at the start of `bytes`, which lies at `address`. Bytes that are no instruction
/// give one `.byte`. `bytes` is not empty.
InstructionText instructionText(std::span<const uint8_t> bytes, uint64_t address);

}  // namespace cacheline::decode
