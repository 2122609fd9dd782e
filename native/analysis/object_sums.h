// Lines added up per data object, so that contention spread over many lines of one array is seen as one.
#pragma once

#include <string>
#include <vector>

#include "analysis/report.h"
#include "base/hash.h"

namespace cacheline::analysis {

/// An object is (space, binary, name). A line that holds several objects gives each only the samples of that
/// object's own accesses. The verdict rolls up over the lines on which the object itself has contended
/// samples: theirs where all agree, else mixed. Where it has none: read-shared if one of its lines is, else
/// private.
class ObjectSums {
 public:
  ObjectSums(uint64_t contended, uint64_t samples) : contended_(contended), samples_(samples) {}

  /// The accesses that follow are of this line, whose own fields (not its accesses) are complete.
  void beginLine(const Line& line);
  void add(const Access& access, const std::string& binary);
  /// By contended samples, descending; then records, descending; then name, binary and space.
  std::vector<ObjectSum> take();

 private:
  struct Sum {
    ObjectSum object;
    uint64_t lastLine = 0;  ///< number of the line counted last
    bool contendedOnLine = false;
    bool anyContended = false, anyReadShared = false;
  };
  uint64_t contended_, samples_;
  uint64_t lineNumber_ = 0;
  const Line* line_ = nullptr;
  HashMap<std::string, size_t> index_;
  std::vector<Sum> sums_;
};

}  // namespace cacheline::analysis
