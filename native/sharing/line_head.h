// What a report says of a line beside its accesses, whatever evidence its samples are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analysis/cpu_nodes.h"
#include "analysis/report.h"
#include "sharing/collected.h"
#include "sharing/judge.h"

namespace cacheline::sharing {

/// Address, space, verdict, flags, words, causes, victims and pairs. Until placeUses() the accesses of
/// victims and pairs are uses of the judgement.
analysis::Line headOf(const Collected& collected, const Line& line, const LineJudgement& judgement);

/// `accessOf`: the listed access that a use is part of; empty: none is.
void placeUses(const std::function<std::optional<uint32_t>(uint32_t use)>& accessOf, analysis::Line& line);

/// What splits are told apart by, beside the accesses': the threads with their names, and the nodes of CPUs
/// 0 to the highest one that an access or a sample without one was on. Fills both of `report.splits`, which
/// has the samples without a place.
void addSplitNames(const Collected& collected, const analysis::CpuNodes& nodes, analysis::Report& report);

/// The thread whose stack the line is on, where one is known.
std::optional<analysis::StackOwner> stackOwnerOf(const Collected& collected, const Line& line);

inline double shareOf(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Ascending, each once.
inline void sortUnique(std::vector<uint32_t>& numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

/// In the order of a report.
void sortThreads(analysis::Line& line);

}  // namespace cacheline::sharing
