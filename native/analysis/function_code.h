// The code of functions: where it lies, its parts elsewhere, and the jumps in it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "decode/code_sweep.h"
#include "symbols/elf_image.h"

namespace cacheline::analysis {

/// The jumps of a function, and its parts elsewhere: compilers move rare cases (NAME.cold) away, from where
/// they jump back into the middle of the function.
struct SweptFunction {
  decode::CodeSweep sweep;
  std::vector<std::unique_ptr<const decode::CodeSweep>> partSweeps;
  std::vector<decode::Code> parts = {};
  std::vector<uint64_t> ends = {};  ///< as decode::Code::ends
};

/// The functions of a binary that were swept, by their addresses: most are sampled at many instructions.
using Sweeps = HashMap<uint64_t, SweptFunction>;

inline constexpr uint64_t kMaxSweep = 64 * 1024;
inline constexpr uint64_t kWindow = 256;

/// The function around an address by its symbol, else by its entry for unwinding.
std::optional<symbols::Section> functionAround(const symbols::ElfImage& image, uint64_t address);

/// The function's code through its end: a branch after the IP can lead into its block, too. A symbol without
/// a size covers what follows it up to the next one. Holds until the next call with these sweeps. Not all
/// ways in it are known (CodeSweep::closed) where
/// - it has indirect jumps, its end is not known, it is larger than kMaxSweep or itself a part of another
/// one;
/// - a handler of exceptions of one of its calls may jump into it, from a part without a name: in binaries
/// with
///   such handlers and without symbols;
/// - it jumps to more code than is worth looking at.
decode::Code sweptCode(const symbols::ElfImage& image, const symbols::Section& function, uint64_t ip,
                       Sweeps& sweeps);

}  // namespace cacheline::analysis
