// How many cache lines there are, from the samples that fell on some of them: lower bounds, with what they
// were made from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace cacheline::workset {

/// The time of the samples is cut into so many equal bins.
inline constexpr uint32_t kBins = 40;

/// The samples of one line.
struct LineTally {
  uint64_t samples = 0;
  uint32_t bin = 0;    ///< of the first ones
  bool apart = false;  ///< some are in a bin that is neither that one nor next to it
  void add(uint32_t inBin, uint64_t count) {
    if (samples == 0) bin = inBin;
    apart |= inBin > bin + 1 || bin > inBin + 1;
    samples += count;
  }
};

/// How many lines have how many samples.
struct Frequencies {
  uint64_t samples = 0, lines = 0;
  uint64_t once = 0, twice = 0;        ///< lines with one sample, with two
  uint64_t twiceApart = 0;             ///< of `twice`: the two are apart
  std::array<uint64_t, kBins> bins{};  ///< samples by bin
  void add(const LineTally& line);
};

/// Of fewer samples nothing is estimated.
inline constexpr uint64_t kFewestSamples = 50;
/// So many lines must have been sampled twice, at different times, before lines without samples are counted.
inline constexpr uint64_t kFewestApart = 5;

/// What the samples say of the number of lines. Empty: they cannot say, `reason` has why.
struct Richness {
  uint64_t samples = 0, lines = 0, once = 0, twice = 0;
  /// The share of the accesses that goes to the sampled lines: Good-Turing, in the form of A. Chao and
  /// L. Jost, "Coverage-based rarefaction and extrapolation", Ecology 93 (2012), equation 4a.
  std::optional<double> coverage;
  /// At least so many lines were used: the lower end of the 95% interval of `estimate`.
  std::optional<uint64_t> atLeast;
  /// Chao1, whose expected value is a lower bound, too: bias-corrected, A. Chao, "Estimating species
  /// richness", Encyclopedia of Statistical Sciences (2005), equation 8; variance and interval: A. Chao,
  /// "Estimating the population size for capture-recapture data", Biometrics 43 (1987).
  std::optional<uint64_t> estimate;
  /// Lines that were sampled twice were so as far apart in time as if all lines were used all the time.
  bool throughout = false;
  std::string reason;  ///< one clause
};

Richness richnessOf(const Frequencies& frequencies);

}  // namespace cacheline::workset
