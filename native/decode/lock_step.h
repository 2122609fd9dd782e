// Instructions by which threads take words and give them back, as locks are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decode/code_sweep.h"
#include "decode/way_values.h"

namespace cacheline::decode {

/// What an instruction does to a word of memory.
struct WordChange {
  enum class Kind : uint8_t {
    none,
    sets,      ///< a plain store
    swaps,     ///< xchg
    compares,  ///< cmpxchg; `value` is what has to be there
    adds,      ///< under the bus lock; what is subtracted is negative
    clears,    ///< bits, under the bus lock: and, btr
    marks      ///< a bit, under the bus lock: bts
  };
  Kind kind = Kind::none;
  uint8_t bits = 64;
  bool asksForZero = false;  ///< `adds`: the code looks whether nothing is left, as of references
  std::optional<LinearValues::Value> value;
};

/// Of the instruction at the start of `bytes`; `before`: it.
WordChange wordChange(std::span<const uint8_t> bytes, const WayValues& before);

/// Whether a thread that changed a word by `take` gives it back by `back`: it puts back what was there, takes
/// off what it added, or clears what it marked. A sum that threads add to, and a list that they push to, are
/// given back by nothing.
bool undoes(const WordChange& back, const WordChange& take);

struct LockStep {
  WordChange change;  ///< `value` where it is a constant
  /// It is atomic, and what its function does next depends on what it found.
  bool takes = false;
  struct Range {
    uint64_t from = 0, to = 0;  ///< addresses of code
  };
  /// Where the function has taken the word and gives it back: the code on the ways between the two, and what
  /// is run behind. Between turns there are accesses to other data.
  std::vector<Range> held, released;
  /// Bytes from the word to the one that is given back, where they are two: of a lock that gives out tickets,
  /// which wait for their turn.
  int64_t turn = 0;

  bool isLock() const { return !held.empty(); }
  bool holdsAt(uint64_t code) const { return isIn(held, code) && !isIn(released, code); }

 private:
  static bool isIn(const std::vector<Range>& ranges, uint64_t code) {
    return std::ranges::any_of(ranges,
                               [&](const Range& each) { return code >= each.from && code < each.to; });
  }
};

/// Of the instruction at `access`, which writes. Ways, and what is known on them, are those of laterWrites().
LockStep lockStep(const Code& code, uint64_t access, uint32_t keptByCalls = kKeptByCalls);

}  // namespace cacheline::decode
