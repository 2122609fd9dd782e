// What a report says of a line beside its accesses, whatever evidence its samples are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analysis/report.h"
#include "sharing/collected.h"
#include "sharing/judge.h"

namespace cacheline::sharing {

/// Address, space, verdict, flags, words, causes and victims. Until placeUses() the victims' accesses are
/// uses of the judgement.
analysis::Line headOf(const Collected& collected, const Line& line, const LineJudgement& judgement);

/// `accessOf`: the listed access that a use is part of; empty: none is.
void placeUses(const std::function<std::optional<uint32_t>(uint32_t use)>& accessOf, analysis::Line& line);

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
