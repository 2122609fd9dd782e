// Arithmetic of sums, as the processor does it.
#include "decode/sum.h"

#include <array>
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

std::optional<uint64_t> evaluate(std::span<const Sum> sums, const Registers& registers, uint64_t bias) {
  std::array<uint64_t, kMostSums> values{};
  size_t known = 0;
  for (const Sum& sum : sums) {
    uint64_t value = sum.constant;
    for (const Sum::Term& term : sum.terms) {
      if (term.part == kRegNone) break;
      if (term.part < kRegCount && !registers.has(term.part)) return {};
      const uint64_t part = term.part < kRegCount    ? registers.value[term.part]
                            : term.part == kCodeBias ? bias
                                                     : values[term.part - kFirstStep];
      value += part * term.factor;
    }
    values[known++] = sum.extend(value);
  }
  return values[known - 1];
}

}  // namespace cacheline::decode
