// One binary as a recording names it: its ELF image, its debug information, and the reasons for what is
// missing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbols/elf_image.h"

namespace cacheline::symbols {

struct SourceFrame {
  std::string function;  ///< readable (demangled) name
  std::string file;      ///< absolute where DWARF allows it, as DWARF says otherwise; empty: unknown
  uint32_t line = 0;     ///< 0: unknown
  uint32_t column = 0;
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
  missing,      ///< the file cannot be opened or is no ELF file (detail says which)
};
const char* moduleStatusName(
    ModuleStatus status);  ///< "ok", "no debug info", "no symbols", "changed", "missing"

/// Not thread-safe: one Module is used by one thread at a time (libdw 0.188).
class Module {
 public:
  /// Never throws: a binary that cannot be used gives status() and detail(). `recordedBuildId` empty: not
  /// compared. Debug information is looked for in the file, by .gnu_debuglink, and in
  /// /usr/lib/debug/.build-id and ~/.debug.
  static std::shared_ptr<Module> open(const std::string& path, const std::string& recordedBuildId);
  /// A module whose file is known to be another than the recorded one for a reason other than its build id.
  static std::shared_ptr<Module> changed(const std::string& path, const std::string& why);
  ~Module();

  const std::string& path() const;
  ModuleStatus status() const;
  const std::string& detail() const;     ///< one sentence for a person, empty when ok
  const std::string& debugFile() const;  ///< separate debug file in use, or empty
  /// Null where status is missing or changed.
  const ElfImage* image() const;

  /// Innermost frame first: inlined functions, then the function itself; its last element is the out-of-line
  /// function. Without debug information one frame with the symbol's name; empty where nothing is known.
  std::vector<SourceFrame> framesAt(uint64_t address);
  /// The variable with static storage that covers the address (DW_OP_addr / DW_OP_addrx), nested scopes
  /// included.
  std::optional<Variable> variableAt(uint64_t address);

 private:
  struct Impl;
  explicit Module(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Readable name of a mangled C++ or Rust symbol; the input itself where it is not mangled.
std::string demangle(std::string_view name);

}  // namespace cacheline::symbols
