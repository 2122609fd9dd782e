// Which source place of an access to show, and how to write it.
#pragma once

#include <string>
#include <string_view>

#include "analysis/report.h"
#include "base/hash.h"

namespace cacheline::c2c {

class SourceText {
 public:
  /// `folder`: of the reader; paths below it are written relative to it.
  explicit SourceText(std::string_view folder);

  /// Appends "src/a.c:12", printable, of the innermost place that is not in a system header, of the innermost
  /// where all are; "unknown" where no debug information says.
  void append(std::string& out, const analysis::CodeName& code);
  void append(std::string& out, const std::string& file, uint32_t line);

 private:
  std::string readablePath(const std::string& file) const;

  std::string folder_;                       ///< with a slash at its end; empty: none
  HashMap<std::string, std::string> paths_;  ///< as they are written, by file: there are few
};

}  // namespace cacheline::c2c
