// What is known of an accessing instruction's place in the source. Rows and frames of the same code share it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "symbols/module.h"

namespace cacheline::analysis {

/// Why a code address has no function, or no source line.
enum class Unnamed : uint8_t {
  named,            ///< it has both
  noBinary,         ///< no file of the binary was found
  changedBinary,    ///< the file is another build than the recorded one
  outsideFile,      ///< no segment of the file holds it
  noSymbols,        ///< the file is stripped and no debug file was found
  noSymbolThere,    ///< the file has symbols, but none covers it
  noDebugInfo,      ///< the function is known; without debug information lines are not
  noLineThere,      ///< the debug information has no line for it
  generated,        ///< no file backs it: code made at run time, the vdso
  generatedNoLine,  ///< code of the kernel made at run time (BPF, trampolines) has a name and no source
  noKernel,         ///< neither vmlinux nor kallsyms of the recorded kernel was found
};
const char* unnamedReason(Unnamed why);  ///< a clause without a full stop; empty for `named`

struct CodeName {
  std::string symbol;  ///< the out-of-line function, readable; empty where nothing names it
  std::string object;  ///< base name of the binary
  std::string file;
  uint32_t line = 0;
  /// Innermost first, up to and with the out-of-line function (`symbol`) at the line of its call; empty where
  /// nothing was inlined.
  std::vector<symbols::SourceFrame> inlined;
  Unnamed why = Unnamed::named;  ///< what is missing first: the function, else the line
  uint64_t elfAddress = 0;       ///< the binary's own address of it; 0 where it is not known
};

using SharedName = std::shared_ptr<const CodeName>;  ///< never null

/// Of code that nothing is known of.
inline const SharedName& noName() {
  static const SharedName none = std::make_shared<const CodeName>();
  return none;
}

}  // namespace cacheline::analysis
