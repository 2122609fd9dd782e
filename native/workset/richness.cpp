// Chao1 and Good-Turing.
#include "workset/richness.h"

#include <algorithm>
#include <cmath>

namespace cacheline::workset {
namespace {

/// Of the accesses: where the sampled lines have so many, those without samples need no estimate.
constexpr double kComplete = 0.95;
/// Of the lines that would be sampled twice far apart were all used all the time: programs that go from one
/// half of their lines to the other have 0.5.
constexpr double kThroughout = 0.75;
constexpr double kNormal = 1.96;  // standard deviations of a 95% interval

double coverageOf(double n, double once, double twice) {
  if (once == 0) return 1;
  const double f1 = (n - 1) * once;
  const double rest = twice > 0 ? f1 / (f1 + 2 * twice) : (n - 1) * (once - 1) / ((n - 1) * (once - 1) + 2);
  return 1 - once / n * rest;
}

/// The share of pairs of samples that are apart: neither in one bin nor in two next to each other.
double shareApart(const Frequencies& from) {
  const auto n = static_cast<double>(from.samples);
  double together = 0, before = 0;
  for (const uint64_t samples : from.bins) {
    const auto count = static_cast<double>(samples);
    together += count * (count - 1) + 2 * count * before;
    before = count;
  }
  return 1 - together / (n * (n - 1));
}

uint64_t whole(double number) {
  return static_cast<uint64_t>(std::llround(number));
}

}  // namespace

void Frequencies::add(const LineTally& line) {
  if (line.samples == 0) return;
  samples += line.samples;
  ++lines;
  once += line.samples == 1 ? 1 : 0;
  twice += line.samples == 2 ? 1 : 0;
  twiceApart += line.samples == 2 && line.apart ? 1 : 0;
}

Richness richnessOf(const Frequencies& from) {
  Richness result{from.samples, from.lines, from.once, from.twice, {}, {}, {}, false, {}};
  if (from.samples < kFewestSamples) {
    result.reason = "there are " + std::to_string(from.samples) + " samples, and " +
                    std::to_string(kFewestSamples) + " are needed";
    return result;
  }
  const auto n = static_cast<double>(from.samples), lines = static_cast<double>(from.lines),
             f1 = static_cast<double>(from.once);
  result.coverage = coverageOf(n, f1, static_cast<double>(from.twice));
  result.atLeast = from.lines;
  if (from.twiceApart < kFewestApart) {
    if (*result.coverage >= kComplete)
      result.estimate = from.lines;
    else
      result.reason = "too few lines were sampled more than once to tell how many were missed";
    return result;
  }
  // A clock does not take two samples within one period: a line that is used once, for a short while, cannot
  // be sampled twice as it would be by samples at any time. Lines sampled twice at different times say how
  // many there would be.
  const double apart = shareApart(from);
  result.throughout =
      static_cast<double>(from.twiceApart) >= kThroughout * apart * static_cast<double>(from.twice);
  const double f2 =
      std::max(static_cast<double>(from.twice), static_cast<double>(from.twiceApart) / std::max(apart, 0.1));
  const double a = (n - 1) / n, ratio = f1 / f2;
  const double unseen = a * f1 * (f1 - 1) / (2 * (f2 + 1));
  result.estimate = from.lines + whole(unseen);
  if (unseen <= 0) return result;
  const double variance =
      f2 * (a / 2 * ratio * ratio + a * a * std::pow(ratio, 3) + a * a / 4 * std::pow(ratio, 4));
  const double spread = std::exp(kNormal * std::sqrt(std::log1p(variance / (unseen * unseen))));
  result.atLeast = whole(lines + unseen / spread);
  return result;
}

}  // namespace cacheline::workset
