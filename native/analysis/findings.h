// What threads wait for, by subject: one judgement, made once, which every view tells (docs/outputs.md).
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/report.h"
#include "analysis/subjects.h"

namespace cacheline::analysis {

/// Subjects (subjects.h) that somebody waits at, and memory that is not known better than by its name; most
/// contended samples first. Each contended access of the report's lines counts for one: that of most of the
/// waiting at its word. Of lines that are not listed, what sums of types and objects know of them is added.
std::vector<Finding> findingsOf(const Report& report, const Subjects& subjects);

/// Whether samples leave open all that a contended subject can be.
bool cannotTell(const Finding& finding);

/// Puts the findings of a report, whose lines, objects and types are complete, into it.
void addFindings(Report& report);

}  // namespace cacheline::analysis
