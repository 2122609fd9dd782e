// What columns say of the lines of a report, as numbers, and the lines in an order that a person chose.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report.h"

namespace cacheline::profile {

/// What a column says of a line; what is not known is less than 0.
using NumberOf = double (*)(const analysis::Line&);

/// Of a column that says a number of each line by itself; null: there is none by that key.
NumberOf numberOf(std::string_view key);

/// Of one report, which lives on and keeps its lines. May be asked from several threads: numbers are kept,
/// and who asks while they are made waits for them.
class LineKeys {
 public:
  explicit LineKeys(const analysis::Report& report) : report_(report) {}
  /// By line. `key`: one of line_order.cpp's numbers, or "object": of texts their rank. Throws Error(usage)
  /// for any other.
  const std::vector<double>& numbers(const std::string& key);
  /// The indices [offset, offset + count) of `lines` sorted by a key, also "address"; of equal ones the lower
  /// address first.
  std::vector<uint32_t> page(std::vector<uint32_t> lines, const std::string& key, bool descending,
                             size_t offset, size_t count);

 private:
  const std::vector<uint64_t>& addresses();

  const analysis::Report& report_;
  std::mutex mutex_;  ///< of what is below; nothing of it changes once it is there
  std::vector<uint64_t> addresses_;
  std::map<std::string, std::vector<double>> numbers_;
};

}  // namespace cacheline::profile
