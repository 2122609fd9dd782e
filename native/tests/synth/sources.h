// How accesses go on each kind of machine: data sources as its PMU driver makes them, their shares and
// latencies.
#pragma once

#include <vector>

#include "scenario.h"

namespace cacheline::synth {

// Of each list the shares add up to 1000.
extern const std::vector<Source> kIntelCalm, kIntelContended, kIntelStores;
extern const std::vector<Source> kAmdCalm, kAmdContended, kAmdStores;
extern const std::vector<Source> kPowerCalm, kPowerContended, kPowerStores;
extern const std::vector<Source> kArmCalm, kArmContended, kArmStores;

}  // namespace cacheline::synth
