// What is worked out of a report when it is first asked for, once for all filters that choose of its lines.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "analysis/report.h"
#include "profile/line_order.h"
#include "profile/measure.h"
#include "profile/uses.h"

namespace cacheline::profile {

class Derived {
 public:
  explicit Derived(std::shared_ptr<const analysis::Report> report)
      : report_(std::move(report)), keys_(*report_) {}
  const Uses& uses();
  /// Of each access, as Uses numbers them.
  const std::vector<double>& amounts(Measure measure);
  LineKeys& keys() { return keys_; }

 private:
  const std::shared_ptr<const analysis::Report> report_;
  LineKeys keys_;
  std::once_flag usesOnce_;
  std::unique_ptr<const Uses> uses_;
  std::mutex mutex_;  ///< of amounts_
  std::map<Measure, std::vector<double>> amounts_;
};

}  // namespace cacheline::profile
