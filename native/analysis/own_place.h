// Which source place and function of an access are the program's own: an atomic's own line says nothing to
// the one who uses it.
#pragma once

#include <string>
#include <string_view>

#include "analysis/code_name.h"

namespace cacheline::analysis {

/// Where compilers and distributions keep headers and standard libraries, and package managers the sources of
/// others. As extension/protocol/own-place.ts has it, which needs it for callers.
bool isForeignSource(std::string_view file);

/// Sources of the language's own library: C's, C++'s, what compilers bring, Rust's, and Go's runtime and
/// locks. Headers of other libraries, which lie beside these, are none.
bool isLanguageSource(std::string_view file);

/// Into `code`, which lives on.
struct SourceLine {
  const std::string* file = nullptr;
  uint32_t line = 0;
};

/// The innermost place that is not in a library; the innermost where all are.
/// @param isForeign what isForeignSource() says of a file
template <typename IsForeign>
SourceLine ownPlace(const CodeName& code, IsForeign&& isForeign) {
  SourceLine place{&code.file, code.line};
  for (size_t i = 0; i < code.inlined.size() && (place.file->empty() || isForeign(*place.file)); ++i) {
    const symbols::SourceFrame& frame = code.inlined[i];
    if (frame.file.empty() || (!place.file->empty() && isForeign(frame.file))) continue;
    place = {&frame.file, frame.line};
  }
  return place;
}

/// The function of the code as the binary's symbols have it. Where that is a library's into which the
/// program's own function was inlined (what starts a thread), the own one.
const std::string& ownFunction(const CodeName& code);

}  // namespace cacheline::analysis
