// Comparisons go through numbers by line, and names through the uses of lines, which are few: most lines need
// not be looked at.
#include "profile/chosen_lines.h"

#include <string>

namespace cacheline::profile {

namespace {

/// All accesses of one use fit such a term, or none does. Not so for members: their names have the indices of
/// elements, which uses leave out.
bool isOfUses(const LineTerm& term) {
  return term.key == LineKey::object || term.key == LineKey::type || term.key == LineKey::function ||
         term.key == LineKey::file;
}

/// By use: whether it fits the term; of one that is not negated, whether it fits any such term with its key.
std::vector<bool> fittingUses(const LineTerm& term, const std::vector<LineTerm>& terms, const Uses& uses) {
  std::vector<bool> fitting(uses.size());
  for (const LineTerm& other : terms) {
    if (&other != &term && (term.negated || other.negated || other.key != term.key)) continue;
    for (uint32_t use = 0; use < fitting.size(); ++use)
      if (!fitting[use]) fitting[use] = fitsAccess(other, *uses.at(use).first);
  }
  return fitting;
}

}  // namespace

std::vector<uint32_t> chosenLines(std::vector<uint32_t> lines, const std::vector<LineTerm>& terms,
                                  const analysis::Report& report, Derived& derived,
                                  const std::function<void(size_t)>& each) {
  std::vector<LineTerm> others;
  for (const LineTerm& term : terms) {
    if (term.key == LineKey::number) {
      const std::vector<double>& numbers = derived.keys().numbers(std::string(term.number));
      std::erase_if(lines, [&](uint32_t line) { return holds(term, numbers[line]) == term.negated; });
    } else if (isOfUses(term)) {
      const Uses& uses = derived.uses();
      const std::vector<bool> fitting = fittingUses(term, terms, uses);
      std::erase_if(lines, [&](uint32_t line) { return uses.hasAny(line, fitting) == term.negated; });
    } else {
      others.push_back(term);
    }
  }
  if (others.empty()) return lines;
  std::erase_if(lines, [&](uint32_t line) {
    each(line);
    return !selects(others, report.lines[line]);
  });
  return lines;
}

}  // namespace cacheline::profile
