// The analyze call: its parameters, and which analysis a recording needs.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "addon/arguments.h"
#include "analysis/report.h"
#include "base/freed_aside.h"
#include "c2c/tables.h"
#include "profile/analyze.h"
#include "sharing/options.h"

namespace cacheline::addon {

struct AnalyzeParameters {
  std::string path;
  std::string filter;  ///< as a person writes it: profile/query.h
  sharing::Options c2c;
  std::optional<c2c::TableOptions> tables;  ///< of a recording with data sources: are asked for
};

/// Throws Napi::Error for a parameter of a wrong type or value.
AnalyzeParameters analyzeParameters(const Arguments& arguments);

/// The report of a profile that is opened for it alone. Throws what the profile does.
analysis::Report analyze(const AnalyzeParameters& parameters, const profile::Progress& progress);

/// The report as JSON, in pieces, and the tables where they are asked for: then the JSON has no more than the
/// words around them need.
struct AnalysisTexts {
  std::vector<std::string> pieces, tables;
};
/// `aside` frees the report.
AnalysisTexts textsOf(analysis::Report report, const AnalyzeParameters& parameters, FreedAside& aside);

}  // namespace cacheline::addon
