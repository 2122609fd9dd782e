// Which words a recording watches: what a person names, and what the samples so far make suspect.
#pragma once

#include <string>
#include <vector>

#include "record/watch_request.h"

namespace cacheline::addon {

struct WatchRequest {
  std::vector<std::string> expressions;  ///< EXPR[:LEN]
  bool confirm = false;                  ///< the hot words of the most suspect lines, too
  double budget = 0;                     ///< share of wall time
};

/// Throws Error(usage) where an expression cannot be one.
record::WatchOptions watchOptions(const WatchRequest& request);

}  // namespace cacheline::addon
