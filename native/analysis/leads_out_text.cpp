// The words for constants that lead out of objects.
#include "analysis/leads_out_text.h"

#include <algorithm>

namespace cacheline::analysis {

std::string leadsOutText(const types::TypeTable& table, const types::LeadsOut& open) {
  constexpr size_t kMostNamed = 3;
  if (open.from == types::kNoType) return {};
  const std::string name = table.nameOf(open.from);
  std::string text = "a pointer to " + name + " leads out of it, to ";
  if (open.neighbour) text += "the next element of an array or ";
  text += "a member of what contains it";
  if (open.holders.empty()) return text;
  text += open.holders.size() == 1 ? ": " : ", and " + std::to_string(open.holders.size()) + " types fit: ";
  for (size_t i = 0; i < std::min(open.holders.size(), kMostNamed); i++)
    text += (i == 0 ? "" : ", ") + table.nameOf(open.holders[i]);
  return open.holders.size() > kMostNamed ? text + ", ..." : text;
}

}  // namespace cacheline::analysis
