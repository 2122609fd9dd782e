// The words for what nobody can tell.
#include "analysis/doubt_text.h"

#include <algorithm>
#include <vector>

namespace cacheline::analysis {
namespace {

std::string namesOf(const types::TypeTable& table, const std::vector<types::TypeId>& types) {
  constexpr size_t kMostNamed = 3;
  std::string text;
  for (size_t i = 0; i < std::min(types.size(), kMostNamed); i++)
    text += (i == 0 ? "" : ", ") + table.nameOf(types[i]);
  return types.size() > kMostNamed ? text + ", ..." : text;
}

}  // namespace

std::string doubtText(const types::TypeTable& table, const inference::Doubt& doubt) {
  if (doubt.tooLong) return "the function there is too long to follow types through it";
  if (!doubt.casts.empty())
    return "live variables give the pointer several types, and nothing says which is right: " +
           namesOf(table, doubt.casts);
  if (doubt.from == types::kNoType) return {};
  std::string text = "a pointer to " + table.nameOf(doubt.from) + " leads out of it, to ";
  if (doubt.neighbour) text += "the next element of an array or ";
  text += "a member of what contains it";
  if (doubt.enclosingTypes.empty()) return text;
  text += doubt.enclosingTypes.size() == 1
              ? ": "
              : ", and " + std::to_string(doubt.enclosingTypes.size()) + " types fit: ";
  return text + namesOf(table, doubt.enclosingTypes);
}

}  // namespace cacheline::analysis
