// What kind of program a file is: for the editor's program picker and the recorder's warnings.
#pragma once

#include <string>

namespace cacheline::symbols {

struct BinaryInfo {
  enum class Kind { executable, sharedLibrary, script, otherElf, notAProgram, unreadable };
  Kind kind = Kind::unreadable;
  bool debugInfo = false;    ///< DWARF in the file itself
  bool symbolTable = false;  ///< .symtab
  bool staticallyLinked = false;
  bool go = false;           ///< made by Go's own compiler, as far as its sections say
  std::string architecture;  ///< "x86_64", "aarch64", ...; empty where it is no ELF file
  std::string buildId;
  std::string interpreter;  ///< of a script: the #! line's program
};
const char* binaryKindName(BinaryInfo::Kind kind);

/// Reads headers only (well under a millisecond a file). Never throws.
BinaryInfo inspectBinary(const std::string& path);

}  // namespace cacheline::symbols
