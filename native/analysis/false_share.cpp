// Shares of sums, with the error that samples have by chance.
#include "analysis/false_share.h"

#include <algorithm>
#include <cmath>

namespace cacheline::analysis {

namespace {

constexpr double kDeviations = 2;
/// Where no sample says otherwise, of so many that do one would have come with a chance of 95%.
constexpr double kUnseen = 3;

}  // namespace

bool FalseShare::isSure() const {
  const auto isBetween = [this](double limit) { return low <= limit && limit <= high; };
  return value && !isBetween(kTrue) && !isBetween(kFalse);
}

void WaitSum::add(const WaitSum& other) {
  waiting += other.waiting;
  known += other.known;
  falsely += other.falsely;
  low += other.low;
  high += other.high;
  variance += other.variance;
}

FalseShare WaitSum::share() const {
  FalseShare share;
  // Of much waiting, one or two samples with a cause do not speak for the rest.
  if (known <= 0 || known < std::min(kUnseen, waiting) * 0.999) return share;
  const double value = falsely / known;
  const double chance = std::max(kDeviations * std::sqrt(variance), kUnseen) / waiting;
  share.value = value;
  share.low = std::clamp(std::min(value, low / waiting) - chance, 0.0, value);
  share.high = std::clamp(std::max(value, high / waiting) + chance, value, 1.0);
  return share;
}

void WaitsOfLines::add(uint64_t line, const WaitSum& access) {
  if (access.waiting <= 0) return;
  if (line != line_) {
    before_ = sum();
    last_ = {};
    deviation_ = 0;
    line_ = line;
  }
  WaitSum own = access;
  deviation_ += std::sqrt(own.variance);
  own.variance = 0;
  last_.add(own);
}

void WaitsOfLines::add(const WaitsOfLines& other) {
  before_.add(other.sum());
}

WaitSum WaitsOfLines::sum() const {
  WaitSum all = before_;
  all.add(last_);
  all.variance += deviation_ * deviation_;
  return all;
}

}  // namespace cacheline::analysis
