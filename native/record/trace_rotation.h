// Which words of an object are watched together: an object has more of them than a processor has debug
// registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cacheline::record {

/// Groups of at most `slots` of the words 0 to `words`-1, ascending, such that every two words are in a group
/// together: then it is known which of them is accessed first. Where there are more than kMostOrdered words,
/// only neighbours are. A set of words that fits is one group; no words: none.
std::vector<std::vector<uint32_t>> wordGroups(size_t words, size_t slots);

/// Up to so many words every two are watched together: 64 words need some 400 groups.
inline constexpr size_t kMostOrdered = 64;

}  // namespace cacheline::record
