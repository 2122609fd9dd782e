// Which function waits for which: the causes of the verdicts, added up by the code that waits and the code
// that causes it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report.h"
#include "tables/table.h"

namespace cacheline::tables {

class FunctionPairs {
 public:
  /// Of all lines of a report whose splits were asked for.
  explicit FunctionPairs(const analysis::Report& report);
  /// Of the function with this text, with so many contended samples; the largest share first.
  std::vector<WaitsFor> of(const std::string& function, uint64_t contended) const;

 private:
  struct Sum {
    double waiting = 0, falsely = 0;  ///< samples
    std::map<std::pair<std::string, std::string>, double> lines;
  };
  std::map<std::string, std::map<std::string, Sum>> pairs_;  ///< by who waits, and for whom
};

}  // namespace cacheline::tables
