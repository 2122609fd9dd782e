// What a function did to its frame before it came to some code, by whatever way.
#pragma once

#include <optional>
#include <vector>

#include "decode/code_sweep.h"
#include "decode/instruction.h"

namespace cacheline::decode {

/// A function that keeps its frame in rbp and gives no address in it away, as compilers make them without
/// optimisation: nothing but its own stores by rbp writes there.
struct Frame {
  /// From the function's start to its first jump or target of one; behind it one that stands for all other
  /// code, run in any order: the registers that it overwrites, and `stored` as its `others`.
  std::vector<Instruction> line;
  std::vector<MemoryOperand> stored;  ///< by rbp, in all other code
  uint64_t end = 0;                   ///< address of what is behind the straight part

  Frame() = default;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
};

/// False where the function is not such a one, or larger than kMostFrameCode.
bool frameOf(const Code& code, Frame& frame);

inline constexpr size_t kMostFrameCode = 4096;  ///< bytes

/// How all code of a function uses its frame.
struct FrameUse {
  bool byBp = false;    ///< rbp is the frame's start wherever the function uses it
  bool escapes = true;  ///< an address in the frame is made: what that leads to may write there
  /// From the function's start to its first jump, or target of one, and how many bytes that is.
  std::vector<Instruction> start = {};
  size_t startSize = 0;
  /// By all other code: registers (bit n: X86Register n), and whether there are calls.
  uint32_t written = ~uint32_t{0};
  bool calls = true;
};
/// Of functions larger than kMostFrameCode nothing is known.
FrameUse frameUse(const Code& code);

}  // namespace cacheline::decode
