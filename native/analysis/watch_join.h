// Joins what watchpoints saw of a line to the line's rows.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/report.h"
#include "analysis/thread_table.h"
#include "analysis/watch_evidence.h"

namespace cacheline::analysis {

/// What tells rows apart that are made of samples.
struct RowKey {
  uint32_t offset = 0, binary = kNone;
  uint64_t elfAddress = 0;
};

/// Makes an access (named, without counts) of a row that only watchpoints saw.
using MakeAccess = std::function<Access(const WatchedRow&)>;

/// `keys`: beside line.accesses, before they are sorted. Rows whose bytes were watched get counts, 0 where
/// nothing was seen; rows only seen by watchpoints are added, unless `makeAccess` is empty; and the line gets
/// its confirmation.
void joinWatch(const WatchedLine& watched, const Turns& turns, const std::vector<RowKey>& keys,
               const MakeAccess& makeAccess, Line& line);

/// Adds the threads that only watchpoints saw, and puts all of them in order.
void addWatchedThreads(const WatchedLine& watched, const Turns& turns, const ThreadTable& threads,
                       Line& line);

}  // namespace cacheline::analysis
