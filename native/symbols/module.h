// One binary as a recording names it: its ELF image, its debug information, and the reasons for what is
// missing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbols/elf_image.h"
#include "symbols/symbol_search.h"

namespace cacheline::symbols {

struct SourceFrame {
  std::string function;  ///< readable (demangled) name
  std::string file;      ///< absolute where DWARF allows it, as DWARF says otherwise; empty: unknown
  uint32_t line = 0;     ///< 0: unknown
  uint32_t column = 0;
  uint32_t codeSize = 0;  ///< bytes of the function's code where it was inlined; 0: it was not
};

struct Variable {
  std::string name;  ///< readable, with scopes: `ns::Class::member`, `function()::counter`
  uint64_t address = 0, size = 0;
  std::string file;
  uint32_t line = 0;
};

/// What is known of a binary, said in the report (`binaries[].status`).
enum class ModuleStatus {
  ok,           ///< the recorded file, with debug information
  noDebugInfo,  ///< symbols only
  noSymbols,    ///< neither
  changed,      ///< the file's build id differs from the recorded one: addresses only
  missing,      ///< no file can be opened, or it is no ELF file (detail says which)
};
const char* moduleStatusName(
    ModuleStatus status);  ///< "ok", "no debug info", "no symbols", "changed", "missing"

class DwarfIndex;

/// Not thread-safe: one Module is used by one thread at a time (libdw 0.188); the reopened one may be by
/// another.
class Module {
 public:
  /// Never throws: a binary that cannot be used gives status() and detail(). `recordedBuildId` empty: not
  /// compared. The binary is looked for as SymbolSearch::binary() says; its debug information in the file,
  /// by build id, by .gnu_debuglink and, where the search allows it, at debuginfod servers.
  static std::shared_ptr<Module> open(const std::string& path, const std::string& recordedBuildId,
                                      SymbolSearch& search);
  /// The same with the conventional places.
  static std::shared_ptr<Module> open(const std::string& path, const std::string& recordedBuildId);
  /// Over what another search has found for `path`: a kernel, a kernel module.
  static std::shared_ptr<Module> of(const std::string& path, FoundBinary found, SymbolSearch& search);
  /// A module whose file is known to be another than the recorded one for a reason other than its build id.
  static std::shared_ptr<Module> changed(const std::string& path, const std::string& why);
  ~Module();
  /// The same file's debug information opened once more, for another thread; the image is shared. Throws
  /// Error(unreadable) where the file cannot be read any more.
  std::shared_ptr<Module> reopened() const;

  const std::string& path() const;  ///< as recorded
  /// Path of the file that stands for it, which may lie elsewhere; empty where image() is null.
  const std::string& file() const;
  ModuleStatus status() const;
  const std::string& detail() const;  ///< for a person, with the next step where it is known; empty when ok
  /// Where dwarf() is null though there is an image: why, and what to do; the latter may be empty.
  const std::string& problem() const;
  const std::string& nextStep() const;
  const std::string& debugFile() const;  ///< separate debug file in use, or empty
  /// Null where status is missing or changed.
  const ElfImage* image() const;

  /// Innermost frame first: inlined functions, then the function itself; its last element is the out-of-line
  /// function. Without debug information one frame with the symbol's name; empty where nothing is known.
  std::vector<SourceFrame> framesAt(uint64_t address);
  /// The variable with static storage that covers the address (DW_OP_addr / DW_OP_addrx), nested scopes
  /// included.
  std::optional<Variable> variableAt(uint64_t address);
  /// The debug information itself, for types and locations; null where there is none.
  DwarfIndex* dwarf();

 private:
  struct Impl;
  explicit Module(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Readable name of a mangled C++ or Rust symbol; the input itself where it is not mangled.
std::string demangle(std::string_view name);

}  // namespace cacheline::symbols
