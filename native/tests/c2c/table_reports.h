// Reports of recordings with data sources, built by hand: an Intel server, an Arm one, and one whose every
// name is hostile.
#pragma once

#include "analysis/report.h"

namespace cacheline::c2c::test {

/// Two contended lines on two nodes: counters of two threads side by side, and a lock word in the kernel.
analysis::Report intelReport();

/// No HITM on Arm: lines rank by loads that another core's cache answered.
analysis::Report armReport();

/// Names that would drive a terminal, names of 400 characters, 40 threads, huge counts, and a line of which
/// nothing is known.
analysis::Report hostileReport();

}  // namespace cacheline::c2c::test
