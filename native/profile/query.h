// The filter that a person writes, in the panel and behind `cacheline report --filter`:
//
//   verdict:false type:Queue member:head object:q function:push* file:pool.cpp thread:writer* cpu:0-3
//   time:1.2-3s hitm>100 -type:Log
//
// docs/design/profile.md says what each term means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report.h"
#include "analysis/sample_filter.h"
#include "profile/pattern.h"

namespace cacheline::profile {

/// What a thread or a process is asked for by: its number or its name.
struct TaskTerm {
  bool process = false, negated = false;
  std::optional<uint32_t> id;
  Pattern name;  ///< where there is no id
};

/// The terms that select samples: what is left is analyzed as if nothing else had been recorded.
struct SampleTerms {
  analysis::Filter filter;  ///< times, CPUs, the mode
  bool shares = false;      ///< the times are shares of the recording, 0 to 1, not seconds
  std::vector<TaskTerm> tasks;
  std::string text;  ///< the terms as they were written: equal texts mean the same
};

enum class LineKey : uint8_t { line, object, type, member, function, file, verdict, number };
enum class Compare : uint8_t { less, atMost, equal, atLeast, more };

/// One term that selects lines of what was computed.
struct LineTerm {
  LineKey key = LineKey::line;
  bool negated = false;
  Pattern pattern;
  analysis::Verdict verdict = analysis::Verdict::privateLine;
  std::string_view number = {};  ///< the key of the column that says it (line_order.h)
  Compare compare = Compare::equal;
  double value = 0;
};

struct Query {
  SampleTerms samples;
  std::vector<LineTerm> lines;
};

/// An empty text asks for everything. Throws Error(usage) that names the term that cannot be understood.
Query parseQuery(std::string_view text);

/// Of a term that is neither a comparison nor LineKey::verdict or line.
bool fitsAccess(const LineTerm& term, const analysis::Access& access);

/// Of a comparison: whether it is true of what its column says of a line.
bool holds(const LineTerm& term, double number);

/// Whether a line is one of those that the terms ask for. Of several terms with one key that are not negated
/// one must fit, and of comparisons all.
bool selects(const std::vector<LineTerm>& terms, const analysis::Line& line);

/// Throws Error(usage) where a term counts what this evidence cannot tell.
void checkEvidence(const std::vector<LineTerm>& terms, const analysis::Report& report);

}  // namespace cacheline::profile
