// All places of the pattern that what was read of the name can have come to, at once.
#include "profile/pattern.h"

#include <algorithm>
#include <vector>

namespace cacheline::profile {

namespace {

bool isOfWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool isBetweenWords(std::string_view name, size_t at) {
  return at == 0 || at == name.size() || !isOfWord(name[at - 1]) || !isOfWord(name[at]);
}

}  // namespace

bool Pattern::fits(std::string_view name) const {
  if (name.empty()) return false;
  const size_t end = text_.size();
  std::vector<char> reached(end + 1), next(end + 1);
  for (size_t at = 0;; ++at) {
    const bool between = isBetweenWords(name, at);
    if (between) reached[0] = 1;
    for (size_t i = 0; i < end; ++i)
      if (reached[i] != 0 && text_[i] == '*') reached[i + 1] = 1;
    if (reached[end] != 0 && between) return true;
    if (at == name.size()) return false;
    std::fill(next.begin(), next.end(), 0);
    for (size_t i = 0; i < end; ++i) {
      if (reached[i] == 0) continue;
      if (text_[i] == '*')
        next[i] = 1;
      else if (text_[i] == '?' || text_[i] == name[at])
        next[i + 1] = 1;
    }
    reached.swap(next);
  }
}

}  // namespace cacheline::profile
