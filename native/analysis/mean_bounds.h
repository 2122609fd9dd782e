// Bounds of a mean over causes of which it is not known how many there are.
#pragma once

#include <vector>

namespace cacheline::analysis {

struct UnsureCause {
  double least = 0, most = 0;  ///< how many there are
  double part = 0;             ///< what counts of each, 0 to 1
};

/// The least, or the largest, mean of `part` that the causes allow; 0 where there can be none.
double boundOfMean(std::vector<UnsureCause> causes, bool largest);

}  // namespace cacheline::analysis
