// What accesses touched, in words: "shared.today.cents", "Worker[3].count", "counters+0..8". The same words
// as in extension/session/report/data-text.ts, which has them for what the editor shows;
// test/fixtures/data-names.json has the cases that both are held to.
#pragma once

#include <string>

#include "analysis/report.h"
#include "c2c/table_cells.h"

namespace cacheline::c2c {

/// Appends the place of an access in its object, by name where that is known; printable.
void appendDataText(std::string& out, const analysis::DataName& data, uint64_t address);

/// The first objects of a line with the places used, those with the most displayed loads first: "queue.limit,
/// counters+0..8, 3 more". Printable.
std::string lineDataText(const analysis::Line& line, const Displayed& displayed);

}  // namespace cacheline::c2c
