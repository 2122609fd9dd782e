// Which function and source line of an access are the program's own: an atomic's own line says nothing to
// the one who uses it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/code_name.h"

namespace cacheline::analysis {

/// Whose a source is; what people change first is first.
enum class SourceOwner : uint8_t {
  program,
  library,  ///< of a package manager, or among the headers of a system
  language  ///< C's library and C++'s, what compilers bring, Rust's, and Go's runtime and locks
};

SourceOwner ownerOf(std::string_view file);

/// Not the program's. As extension/protocol/own-place.ts has it, which needs it for callers.
bool isForeignSource(std::string_view file);

/// A function and a line in it. Into the code that it was asked of, which lives on.
struct OwnCode {
  const std::string* function = nullptr;  ///< empty: nothing names it
  const std::string* file = nullptr;      ///< empty: the source is not known
  uint32_t line = 0;
};

/// Whether a function is hardly more than one access where it was inlined: the program's own wrapper of
/// atomics, or what gets and sets a member.
inline bool isWrapper(const symbols::SourceFrame& frame) {
  constexpr uint32_t kMost =
      32;  // bytes: a compare-and-swap with its operands and what is made of its result
  return frame.codeSize > 0 && frame.codeSize <= kMost;
}

/// What is told of code: of the functions that have a source, the innermost one of the program's own that is
/// more than a wrapper; else the innermost wrapper; else the innermost one of another library; else, of the
/// language's library, the outermost one, which is what was called. Without sources it is the function that
/// the binary's symbols have.
/// @param code a CodeName or CallerFrame
/// @param owner what ownerOf() says of a file
/// @param passWrappers false: they are as other functions
template <typename Code, typename Owner>
OwnCode ownCode(const Code& code, Owner&& owner, bool passWrappers) {
  OwnCode told{&code.symbol, &code.file, code.line};
  const auto rankOf = [&](const symbols::SourceFrame& frame) {
    const SourceOwner whose = owner(frame.file);
    if (whose == SourceOwner::program) return passWrappers && isWrapper(frame) ? 1 : 0;
    return whose == SourceOwner::library ? 2 : 3;
  };
  int best = 3;
  for (const symbols::SourceFrame& frame : code.inlined) {
    if (frame.file.empty()) continue;
    const int rank = rankOf(frame);
    if (rank > best || (rank == best && best != 3)) continue;
    told = {frame.function.empty() ? &code.symbol : &frame.function, &frame.file, frame.line};
    best = rank;
    if (best == 0) break;
  }
  return told;
}

template <typename Code>
OwnCode ownCode(const Code& code) {
  return ownCode(code, ownerOf, true);
}

/// The functions of the program's own that an instruction is in, the innermost one first, then those it was
/// inlined into, without wrappers; where none is, the one that ownCode() tells.
template <typename Code>
std::vector<const std::string*> ownFunctions(const Code& code) {
  std::vector<const std::string*> functions;
  for (const symbols::SourceFrame& frame : code.inlined)
    if (!frame.file.empty() && !frame.function.empty() && !isWrapper(frame) && !isForeignSource(frame.file))
      functions.push_back(&frame.function);
  if (functions.empty()) functions.push_back(ownCode(code).function);
  return functions;
}

}  // namespace cacheline::analysis
