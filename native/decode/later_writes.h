// Stores that a function makes to the word of an access, on the ways that lead on from it. Stores retire
// without waiting: where a word is loaded and then stored, as in queues and locks, samples are at the load.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/code_sweep.h"
#include "decode/way_values.h"

namespace cacheline::decode {

struct LaterWrites {
  enum class Ways : uint8_t {
    none,  ///< no store to the word is known
    some,
    all  ///< that the function goes on by
  };
  Ways ways = Ways::none;
  /// Of `all`: the access may be made several times before the store.
  bool repeats = false;
  /// Of `some`: a plain store that may run as often as the access. Locked instructions wait, so that samples
  /// show whether they run.
  bool mayBeOften = false;
  /// Of `some`: which other plain stores there are, see laterWrites(). Equal numbers are stores of one kind.
  std::vector<uint64_t> settings = {};
};

/// Stores, and instructions that read and write in one step, behind the instruction at `access`, which reads:
/// to bytes that it covers, by the same base. The base is the same where the address is made of the same
/// values: what registers held before the access, and copies, sums and low bits of it; what slots of the
/// frame held, until something may write them; addresses of the code. Pointers that are loaded anew from
/// elsewhere are others. Where ways meet, both must agree.
///
/// A way ends where the function returns, jumps elsewhere or where the base is lost. Calls are taken to
/// return, and to leave alone the registers `keptByCalls` and a frame of which no address is made; a way into
/// a trap, or into code that never comes back (Code::ends), is none, and neither is a loop without end. A way
/// back to the access itself counts by how it goes on from there. Where jump tables, or more than a bounded
/// number of instructions follow, not all ways are known.
///
/// A store on some ways that only makes so what the access showed not to be so (`if (!flag) flag = 1`,
/// `if (x != v) x = v`, `if (!p) p = make()`) runs again only once others have changed the word. It is
/// reached by such outcomes of branches on the loaded value alone, and what it stores does not come from that
/// value. Stores of one kind have the same condition and the same constant, or none.
LaterWrites laterWrites(const Code& code, uint64_t access, uint32_t keptByCalls = kKeptByCalls);

/// Plain stores that a thread at `ip` makes, whatever it meets: in the straight code from there on, through
/// jumps that are always taken, within a bounded number of instructions. Their operands, by the registers
/// before the instruction at `ip`; none of the frame, and none whose address those do not tell.
std::vector<MemoryOperand> storesAhead(const Code& code, uint64_t ip);

}  // namespace cacheline::decode
