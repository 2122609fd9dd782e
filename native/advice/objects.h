// The objects of a subject that several threads touched.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "advice/replay.h"
#include "analysis/subjects.h"

namespace cacheline::advice {

/// Those with most samples: a replay of one more costs some judgements.
inline constexpr size_t kMostObjects = 64;

/// How many elements of an array, one after the other, are one thread's alone, at most: of all of them, or of
/// nearly all samples at them. 0: threads use the same elements, or each some here and there. `subject`: of
/// elements. The lines have a history.
uint64_t elementsInRow(const analysis::Report& report, const analysis::Subjects& subjects, uint32_t subject);

class SharedObjects {
 public:
  /// References are kept.
  SharedObjects(const analysis::Report& report, const analysis::Subjects& subjects, uint32_t subject);

  bool empty() const { return spaces_.empty(); }
  uint64_t samples() const { return samples_; }
  /// That hold bytes of them, ascending.
  const std::vector<uint32_t>& lines() const { return lines_; }
  /// Each object in a space of its own, at `base` bytes behind its start; what is not theirs is left out.
  Move alone(uint64_t base) const;

 private:
  using Object = std::pair<std::string, uint64_t>;  ///< its space and its address
  const analysis::Report& report_;
  const analysis::Subjects& subjects_;
  const uint32_t subject_;
  std::map<Object, uint32_t> spaces_;
  std::vector<uint32_t> lines_;
  uint64_t samples_ = 0;
};

}  // namespace cacheline::advice
