// The instructions of a function, and the jumps between them.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cacheline::decode {

struct Flow;

/// Where the instructions of a function start, and what leads to them: one linear sweep through its end,
/// since a branch anywhere can lead into any block. A byte that starts no instruction (padding, data) is
/// skipped and separates blocks; x86 code falls back into step within a few instructions. Offsets are those
/// in `code`.
class CodeSweep {
 public:
  enum class Extent : uint8_t { function, part };  ///< of a part, jumps from elsewhere are not known
  explicit CodeSweep(std::span<const uint8_t> code, size_t from = 0, Extent extent = Extent::function);
  size_t size() const { return starts_.size(); }  ///< bytes of `code`
  bool startsAt(size_t offset) const { return starts_[offset]; }
  /// Behind the last block end, or undecodable byte, at or before the offset; else where the sweep began.
  size_t runStart(size_t offset) const { return *lastUpTo(runs_, offset); }
  /// The greatest target of a direct branch that is not beyond the offset.
  std::optional<size_t> leader(size_t offset) const { return lastUpTo(targets_, offset); }
  bool isTarget(size_t offset) const { return targets_[offset]; }  ///< of a direct branch
  /// Whether all ways to its instructions are known: the code is a whole function without indirect jumps, and
  /// no conditional jump leaves it (to its part elsewhere, for rare cases, which may jump back), or what its
  /// parts do is known.
  bool closed() const { return closed_; }
  /// All jumps into the code from its parts elsewhere lead to these offsets.
  void enterAt(std::span<const size_t> offsets);
  /// Where the block of an instruction begins, which may be that of a block in the middle of an instruction.
  size_t blockStart(size_t offset) const { return std::max(runStart(offset), leader(offset).value_or(0)); }
  /// The instruction that ends right before an offset; empty where none does.
  std::optional<size_t> instructionBefore(std::span<const uint8_t> code, size_t offset) const;

  struct Jump {
    uint32_t target = 0, at = 0;
    auto operator<=>(const Jump&) const = default;
  };
  /// Direct branches to an offset.
  std::span<const Jump> jumpsTo(size_t offset) const;
  /// Offsets of indirect jumps, and of returns.
  std::span<const uint32_t> indirectJumps() const { return indirect_; }
  std::span<const uint32_t> returns() const { return returns_; }
  bool calls() const { return calls_; }  ///< whether there is a call in the code

  /// A direct jump to other code. The target counts from the start of this code, modulo 2^64.
  struct Leaving {
    uint64_t target = 0;
    uint32_t at = 0;
    bool conditional = false;
  };
  std::span<const Leaving> leaving() const { return leaving_; }

 private:
  /// By offset: bits take less room than lists, whatever the code is.
  using Marks = std::vector<bool>;
  void note(uint32_t at, const Flow& flow);
  static std::optional<size_t> lastUpTo(const Marks& marks, size_t offset);
  Marks starts_, runs_, targets_;
  std::vector<Jump> jumps_;  ///< sorted
  std::vector<uint32_t> indirect_, returns_;
  std::vector<Leaving> leaving_;
  bool whole_, closed_, calls_ = false;
};

/// A function's code.
struct Code {
  const CodeSweep& sweep;
  std::span<const uint8_t> bytes;
  uint64_t start = 0;  ///< its address
  /// Its parts elsewhere, for rare cases, which jump into it (CodeSweep::enterAt). Of these, only the blocks
  /// that do are looked at.
  std::span<const Code> parts = {};
  /// Addresses that its jumps lead to, of code elsewhere that neither returns nor jumps: it ends the program,
  /// or throws.
  std::span<const uint64_t> ends = {};
};

}  // namespace cacheline::decode
