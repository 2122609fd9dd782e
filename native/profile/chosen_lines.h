// The lines that the terms of a filter choose, of all lines at once.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/report.h"
#include "profile/derived.h"
#include "profile/query.h"

namespace cacheline::profile {

/// Those of `lines` for which selects() is true; `each` is called before a line whose accesses are looked at.
/// What comparisons look at is kept in `derived`: a person tries several limits.
std::vector<uint32_t> chosenLines(std::vector<uint32_t> lines, const std::vector<LineTerm>& terms,
                                  const analysis::Report& report, Derived& derived,
                                  const std::function<void(size_t)>& each);

}  // namespace cacheline::profile
