// What a list shows of a line: a fraction of the line with all its accesses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report.h"

namespace cacheline::profile {

/// {"id", "address", "space", "node", "paCount", "verdict", "confirmation", "flags", "contended", "hitm",
/// "peer", "ld", "records", "loads", "stores", "threads", "writers", "readers", "data", "place",
/// "loadCycles", "timedLoads", "nodes"}: as in the report, and of its accesses together
/// - `threads`: how many; `writers`, `readers`: of those that compete, of all where none does
/// - `data`: the objects that they are to, and `place`: the own code of one, the most contended ones first
/// - `loadCycles`, `timedLoads`: of those whose loads carry latencies; null where none do
/// - `nodes`: of the CPUs.
std::string lineSummary(const analysis::Report& report, const analysis::Line& line, const std::string& id);

/// Of the threads of a line that compete; of all where none does.
struct UserCounts {
  uint32_t writers = 0, readers = 0;  ///< one that does both counts in both
};
UserCounts userCounts(const analysis::Line& line);

/// The most contended first.
std::vector<const analysis::Access*> costliestFirst(const analysis::Line& line);

}  // namespace cacheline::profile
