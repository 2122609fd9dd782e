// The accesses of a report by what they are: which code uses which data. Lines are many and uses are few, so
// what only asks for names goes through the numbers of uses, and not through the accesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report.h"

namespace cacheline::profile {

/// Accesses of one code in lines of one space to one member of data of one name, of all elements of arrays.
struct Use {
  const analysis::Access* first = nullptr;  ///< of the report
  const std::string* space = nullptr;       ///< of its line
  uint32_t data = 0;                        ///< number of its data: the same in all spaces and by any code
};

class Uses {
 public:
  /// The report lives on and keeps its lines.
  explicit Uses(const analysis::Report& report);
  size_t size() const { return uses_.size(); }
  const Use& at(uint32_t use) const { return uses_[use]; }
  size_t dataCount() const { return dataCount_; }
  /// Accesses are numbered through all lines. The first one of a line; of the line behind the last how many
  /// there are.
  size_t firstOf(size_t line) const { return begins_[line]; }
  const Use& ofAccess(size_t access) const { return uses_[ofAccesses_[access]]; }
  /// Whether an access of the line is one of these. `of`: by use.
  bool hasAny(size_t line, const std::vector<bool>& of) const {
    for (size_t at = begins_[line]; at < begins_[line + 1]; ++at)
      if (of[ofAccesses_[at]]) return true;
    return false;
  }
  /// What accesses of the lines are, each once, in the order in which they come. Calls `each` with the number
  /// of lines before each line.
  template <typename Each>
  std::vector<uint32_t> of(const std::vector<uint32_t>& lines, Each each) const {
    std::vector<bool> seen(uses_.size());
    std::vector<uint32_t> found;
    for (size_t i = 0; i < lines.size(); ++i) {
      each(i);
      for (size_t at = begins_[lines[i]]; at < begins_[lines[i] + 1]; ++at) {
        const uint32_t use = ofAccesses_[at];
        if (seen[use]) continue;
        seen[use] = true;
        found.push_back(use);
      }
    }
    return found;
  }

 private:
  std::vector<Use> uses_;
  std::vector<uint32_t> ofAccesses_;
  std::vector<size_t> begins_;  ///< by line, in ofAccesses_; one more behind the last
  size_t dataCount_ = 0;
};

}  // namespace cacheline::profile
