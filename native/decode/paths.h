// The ways by which a thread can have come to an instruction, through jumps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decode/code_sweep.h"
#include "decode/condition.h"
#include "decode/instruction.h"

namespace cacheline::decode {

/// Straight code that is run through its end. Offsets in its code.
struct Piece {
  const Code* code = nullptr;
  size_t from = 0, end = 0;
  size_t last = 0;                ///< the last instruction
  bool jumps = false;             ///< goes on by that; else with what follows
  Condition condition = kAlways;  ///< that is met where it goes on like this
};

/// What leads to an offset.
struct Ways {
  std::vector<Piece> pieces;  ///< what falls into it first
  bool complete = false;      ///< nothing else does
};
Ways waysTo(const Code& code, size_t offset);

/// What a thread ran, one instruction after the other.
struct Path {
  std::vector<Piece> pieces;        ///< the last one first
  std::vector<Instruction> line;    ///< of all pieces, the first one first
  std::vector<uint64_t> addresses;  ///< of the same instructions
  struct Branch {
    size_t jump = 0;                       ///< index in `line`
    std::optional<Comparison> comparison;  ///< made right before it
    Condition condition = kAlways;
  };
  std::vector<Branch> turns;     ///< at conditional jumps: the conditions that were met
  std::optional<size_t> access;  ///< index in `line` of the last access, where that is near enough
};

/// The path that ends with `pieces` (the last one first). It begins as early as there is only one way to
/// them, within a bounded number of bytes. Empty where code does not decode like that.
std::optional<Path> pathThrough(std::vector<Piece> pieces);

/// All paths through the end of `last`. The last access on each is looked for up to kMostSkid instructions
/// before an instruction pointer that is `behind` instructions further on, and not where unknown ways meet
/// the path. `anyway`: those to `last` itself count as none. Empty where there are too many.
std::vector<Path> pathsTo(const Piece& last, size_t behind, bool anyway);

}  // namespace cacheline::decode
