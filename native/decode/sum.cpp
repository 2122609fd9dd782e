// Arithmetic of sums, as the processor does it.
#include "decode/sum.h"

#include <utility>

namespace cacheline::decode {

void Sum::add(uint8_t part, uint64_t factor) {
  if (part == kRegNone) return;
  Term& term = terms[0].part == part || terms[0].part == kRegNone ? terms[0] : terms[1];
  term = {part, term.factor + factor};
  if (term.factor == 0) term = {};
  if (terms[0].part == kRegNone) std::swap(terms[0], terms[1]);
}

uint64_t Sum::extend(uint64_t sum) const {
  const int unused = 64 - bits;
  sum <<= unused;
  const uint64_t extended =
      isSigned ? static_cast<uint64_t>(static_cast<int64_t>(sum) >> unused) : sum >> unused;
  return isSigned ? static_cast<uint64_t>(static_cast<int64_t>(extended) >> shift) : extended >> shift;
}

}  // namespace cacheline::decode
