// The lines of a report in an order that a person chose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report.h"

namespace cacheline::profile {

/// By what lines are sorted: what a column says of each.
class LineKeys {
 public:
  /// `key`: "address", "object", or one of line_order.cpp's numbers. Throws Error(usage) for any other.
  LineKeys(const analysis::Report& report, const std::string& key);
  /// The indices [offset, offset + count) of `lines`, in order; of equal ones the lower address first.
  std::vector<uint32_t> page(std::vector<uint32_t> lines, bool descending, size_t offset, size_t count) const;

 private:
  bool byAddress_;
  std::vector<uint64_t> addresses_;  ///< by line
  std::vector<double> numbers_;      ///< by line; of texts their rank; empty: by address
};

}  // namespace cacheline::profile
