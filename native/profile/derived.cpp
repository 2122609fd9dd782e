// Each goes through all accesses of the report, which takes longer than a question may.
#include "profile/derived.h"

namespace cacheline::profile {

const Uses& Derived::uses() {
  std::call_once(usesOnce_, [this] { uses_ = std::make_unique<const Uses>(*report_); });
  return *uses_;
}

const std::vector<double>& Derived::amounts(Measure measure) {
  const std::lock_guard lock(mutex_);
  std::vector<double>& amounts = amounts_[measure];
  if (amounts.empty())
    for (const analysis::Line& line : report_->lines)
      for (const analysis::Access& access : line.accesses) amounts.push_back(amountOf(access, measure));
  return amounts;
}

}  // namespace cacheline::profile
