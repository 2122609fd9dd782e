// Which samples of a report's threads were contended, one by one, with their times.
#pragma once

#include <cstdint>
#include <functional>

#include "analysis/report.h"

namespace cacheline::scheduling {

/// A logged sample of a contended line, and how many contended samples it stands for.
struct ContendedSample {
  uint32_t pid = 0, tid = 0;
  uint64_t time = 0;  ///< ns, of the recording's clock
  double samples = 0;
};

/// Each line is judged again from its history, as it was for the report; lines without one are left out. What
/// it gives adds up to Line::contended of these lines but for rounding.
void eachContended(const analysis::Report& report, const std::function<void(const ContendedSample&)>& give);

}  // namespace cacheline::scheduling
