// The most lines that data can lie on: those of recorded heap blocks and of variables.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "analysis/report.h"

namespace cacheline::workset {

struct DataSet;

/// What the samples of one type or site lie in.
struct DataBounds {
  std::set<size_t> sites;                                           ///< indices of Report::heapSites
  std::set<std::tuple<std::string, uint64_t, uint64_t>> variables;  ///< space, address, bytes
  std::set<std::string> spaces;                                     ///< that have blocks of these sites
  uint64_t elsewhere = 0;  ///< accesses in what neither a block nor a variable covers
};

class UpperBounds {
 public:
  explicit UpperBounds(const analysis::Report& report);
  void add(const analysis::Line& line, const analysis::Access& access, DataBounds& bounds) const;
  /// Fills `atMost`, `peakBytes` and why they are not known.
  void finish(const DataBounds& bounds, DataSet& set) const;

 private:
  using Origin = std::tuple<std::string, std::string, uint32_t>;  // function, file, line
  static Origin originOf(const analysis::HeapBlock& block);
  const analysis::Report& report_;
  std::map<Origin, size_t> sites_;
};

}  // namespace cacheline::workset
