// Which function waits for which: the causes of the verdicts, added up by the code that waits and the code
// that causes it.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
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
    std::map<std::pair<std::string_view, std::string_view>, double> lines;
  };
  void add(const analysis::Line& line);

  std::set<std::string> texts_;  ///< each once, however many pairs it is in
  std::map<std::string_view, std::map<std::string_view, Sum>> pairs_;  ///< by who waits, and for whom
};

}  // namespace cacheline::tables
