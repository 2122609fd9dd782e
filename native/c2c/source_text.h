// Which source place of an access to show, and how to write it.
#pragma once

#include <string>
#include <string_view>

#include "analysis/own_place.h"
#include "analysis/report.h"
#include "base/hash.h"

namespace cacheline::c2c {

class SourceText {
 public:
  /// `folder`: of the reader; paths below it are written relative to it.
  explicit SourceText(std::string_view folder);

  /// Appends "src/a.c:12", printable, of the place that is told of code (analysis/own_place.h); "unknown"
  /// where no debug information says.
  void append(std::string& out, const analysis::CodeName& code);
  void append(std::string& out, const std::string& file, uint32_t line);

 private:
  struct File {
    std::string text;  ///< its path as it is written
    analysis::SourceOwner owner = analysis::SourceOwner::program;
  };
  /// Holds until the next call.
  const File& known(const std::string& file);
  std::string readablePath(const std::string& file) const;

  std::string folder_;                ///< with a slash at its end; empty: none
  HashMap<std::string, File> files_;  ///< there are few
};

}  // namespace cacheline::c2c
