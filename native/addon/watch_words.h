// Which words a recording watches: what a person names, and what the samples so far make suspect.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "addon/suspects.h"
#include "record/watch_request.h"

namespace cacheline::addon {

struct WatchRequest {
  std::vector<std::string> expressions;  ///< EXPR[:LEN]
  bool confirm = false;                  ///< the hot words of the most suspect lines, too
  double budget = 0;                     ///< share of wall time
};

/// `suspects`: where there are to be any, and `ask` how they are looked for. Throws Error(usage) where an
/// expression cannot be one.
record::WatchOptions watchOptions(const WatchRequest& request,
                                  const std::shared_ptr<Suspects>& suspects = nullptr,
                                  const Suspects::Ask& ask = {});

}  // namespace cacheline::addon
