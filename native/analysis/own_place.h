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

/// Whether a function from another file than that into which it was inlined is hardly more than one access
/// there: a wrapper of atomics, or what gets and sets a member.
/// @param number of the frame, innermost first
inline bool isWrapper(const std::vector<symbols::SourceFrame>& frames, size_t number) {
  // Bytes of a compare-and-swap with its operands, and of what is made of its result.
  constexpr uint32_t kMost = 32;
  const symbols::SourceFrame& frame = frames[number];
  return frame.codeSize > 0 && frame.codeSize <= kMost && number + 1 < frames.size() &&
         frames[number + 1].file != frame.file;
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
  constexpr int kOfLanguage = 3, kOfLibrary = 2;  // own wrappers are 1, other own functions 0
  int best = kOfLanguage;
  for (size_t i = 0; i < code.inlined.size() && best > 0; ++i) {
    const symbols::SourceFrame& frame = code.inlined[i];
    if (frame.file.empty()) continue;
    const SourceOwner whose = owner(frame.file);
    const int rank = whose == SourceOwner::language  ? kOfLanguage
                     : whose == SourceOwner::library ? kOfLibrary
                                                     : passWrappers && isWrapper(code.inlined, i);
    if (rank > best || (rank == best && best != kOfLanguage)) continue;
    told = {frame.function.empty() ? &code.symbol : &frame.function, &frame.file, frame.line};
    best = rank;
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
  for (size_t i = 0; i < code.inlined.size(); ++i) {
    const symbols::SourceFrame& frame = code.inlined[i];
    if (!frame.file.empty() && !frame.function.empty() && !isForeignSource(frame.file) &&
        !isWrapper(code.inlined, i))
      functions.push_back(&frame.function);
  }
  if (functions.empty()) functions.push_back(ownCode(code).function);
  return functions;
}

}  // namespace cacheline::analysis
