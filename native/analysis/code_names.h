// Names and source positions of accessing instructions.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "analysis/attribution.h"
#include "analysis/binaries.h"

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
  std::vector<symbols::SourceFrame> inlined;  ///< see Access::inlined
  Unnamed why = Unnamed::named;               ///< what is missing first: the function, else the line
  uint64_t elfAddress = 0;                    ///< the binary's own address of it; 0 where it is not known
};

/// The name that `module` gives the code at `elfAddress`; `object` and `elfAddress` are left to the caller.
CodeName nameOf(symbols::Module& module, uint64_t elfAddress);

/// Looks every code address up once.
class CodeNames {
 public:
  explicit CodeNames(Binaries& binaries) : binaries_(binaries) {}
  /// References are good as long as this object.
  const CodeName& of(const Site& site) { return at(site.binary, site.plan.codeAddress); }
  /// The code at an ELF address of a binary.
  const CodeName& at(uint32_t binary, uint64_t elfAddress);
  /// The code at a file offset of a binary, as a mapping gives it. `binary` kNone: code that no file backs.
  const CodeName& atOffset(uint32_t binary, uint64_t fileOffset);

 private:
  struct Key {
    uint64_t address = 0;
    uint32_t binary = 0;
    bool operator==(const Key&) const = default;
    size_t hash() const { return mix(address, binary); }
  };
  Binaries& binaries_;
  HashMap<Key, uint32_t> index_;
  HashMap<uint32_t, uint32_t> outside_;  ///< by binary: code of it without an ELF address
  std::deque<CodeName> names_;
};

}  // namespace cacheline::analysis
