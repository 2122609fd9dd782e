// What the evidence of a report can and cannot say in a table.
#pragma once

#include <string>
#include <vector>

#include "analysis/report.h"

namespace cacheline::tables {

/// Sentences, of the collector first.
std::vector<std::string> limitsOf(const analysis::Report& report);

}  // namespace cacheline::tables
