// Whether the options of a recording make sense together.
#pragma once

#include "record/recorder.h"

namespace cacheline::record {

/// Throws Error(usage) with one sentence: nothing to record, contradictions, folders and CPUs that are not
/// there.
void checkOptions(const RecordOptions& options);

}  // namespace cacheline::record
