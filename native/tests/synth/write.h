// A whole recording, written.
#pragma once

#include "binary.h"
#include "options.h"

namespace cacheline::synth {

/// Writes options.output, and options.list where there is one, of samples that pretend to come from `binary`.
/// Throws Error(usage, io).
void writeRecording(const Options& options, const Binary& binary);

}  // namespace cacheline::synth
