// From the terms of a filter to the samples of one recording that they mean.
#pragma once

#include <string>

#include "analysis/sample_filter.h"
#include "profile/analyze.h"
#include "profile/query.h"

namespace cacheline::profile {

/// What passes both `given` and the terms. Names of threads and processes are looked up in the recording, all
/// that a thread ever had; those of none leave no sample. `seconds`: how long the recording is, asked for
/// only where times are shares.
analysis::Filter chosenSamples(const std::string& path, const analysis::Filter& given,
                               const SampleTerms& terms, const std::function<double()>& seconds,
                               const Progress& progress);

}  // namespace cacheline::profile
