// Names of the rules, in the order of the enumeration.
#include "inference/naming_rules.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace cacheline::inference {
namespace {

constexpr std::string_view kRuleNames[] = {
    "inferBackward", "enclosingTypes", "guesses",   "behindArguments",
    "nodes",         "strangers",      "casts",     "enclosingOfElement",
    "around",        "words",          "silent",    "ownStack",
    "bytes",         "joinedArrays",   "lifetimes", "arrayBlocks",
    "wholeBlocks",   "partsOfBlocks",  "pools",     "pointers"};
static_assert(std::size(kRuleNames) == static_cast<size_t>(NamingRule::pointers) + 1);

}  // namespace

bool isOff(NamingRule rule) {
  static const size_t off = [] {
    const char* name = std::getenv("CACHELINE_WITHOUT_NAMING_RULE");
    const auto found = std::find(std::begin(kRuleNames), std::end(kRuleNames), name != nullptr ? name : "");
    return static_cast<size_t>(found - std::begin(kRuleNames));
  }();
  return static_cast<size_t>(rule) == off;
}

}  // namespace cacheline::inference
