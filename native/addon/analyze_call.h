// The analyze call: its parameters, and which analysis a recording needs.
#pragma once

#include <functional>
#include <string>

#include "addon/arguments.h"
#include "analysis/report.h"
#include "c2c/options.h"

namespace cacheline::addon {

struct AnalyzeParameters {
  std::string path;
  c2c::Options c2c;
  analysis::RowDetail rows = analysis::RowDetail::all;
};

/// Throws Napi::Error for a parameter of a wrong type or value.
AnalyzeParameters analyzeParameters(const Arguments& arguments);

/// By what the recording holds: data sources, or register snapshots. Throws Error(usage) where a parameter
/// needs data sources that are not there.
analysis::Report analyze(const AnalyzeParameters& parameters, const std::function<bool(double)>& progress);

}  // namespace cacheline::addon
