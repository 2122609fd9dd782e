// Names as a person types them into a filter.
#pragma once

#include <string>
#include <string_view>

namespace cacheline::profile {

/// Fits a name that has it as whole words: `Queue` fits "ns::Queue<int>", and not "QueueItem". `*` stands for
/// any characters, `?` for one. A word is letters, digits, underscores and bytes beyond ASCII.
class Pattern {
 public:
  explicit Pattern(std::string text) : text_(std::move(text)) {}
  /// An empty name fits no pattern. Takes time proportional to both lengths, whatever the pattern.
  bool fits(std::string_view name) const;

 private:
  std::string text_;
};

}  // namespace cacheline::profile
