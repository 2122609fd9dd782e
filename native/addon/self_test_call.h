// The self-test of `doctor`: the built-in program recorded and analysed with each usable collector.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "record/doctor.h"

namespace cacheline::addon {

/// One entry for each collector that `doctor` found usable, in its order; a failure is an entry that says
/// what went wrong. Takes about a second each. `program`: path of cacheline_selftest.
std::vector<record::SelfTest> runSelfTests(const record::Doctor& doctor, const std::string& program,
                                           const std::atomic<bool>& stop);

}  // namespace cacheline::addon
