// Names of lines that filters and a new reading of the recording do not change.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/report.h"

namespace cacheline::profile {

/// "pid 5000:0x7f0012340"; of a place in a shared mapping "file 00:1b:1234:0x40", by its offset in the file.
/// Of several lines with one name (of processes that had one pid) all but the first end with "#2" and so on,
/// in the order of the report.
class LineIds {
 public:
  explicit LineIds(const analysis::Report& report);
  std::string of(uint32_t line) const;
  /// The index of the line; empty: there is none.
  std::optional<uint32_t> find(std::string_view id) const;

 private:
  const analysis::Report& report_;
  std::map<uint32_t, size_t> repeated_;  ///< by index: the how manieth of its name, where it is not the first
};

}  // namespace cacheline::profile
