// Answers source questions about one file's DWARF from sorted indexes of our own; libdw only reads the raw
// data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbols/dwarf_names.h"
#include "symbols/dwarf_units.h"
#include "symbols/elf_file.h"
#include "symbols/module.h"
#include "symbols/variables.h"

namespace cacheline::symbols {

/// What dwz moved out of a file, and is not read.
struct MissingSupplement {
  std::string name;  ///< as the section has it
  std::string why;   ///< "was not found": what "which" goes before
  std::string next;  ///< what a person can do, as a sentence
};

/// Not thread-safe, like libdw 0.188. What the indexes cover:
/// - units by address range, read on the first question;
/// - of a unit, on its first hit: line rows, functions and inlines, scopes;
/// - all variables with static storage, on the first question for one.
class DwarfIndex {
 public:
  /// `file` is the parsed file at `path`, `image` has the symbols; both must outlive this. `supplement`: what
  /// dwz moved out of it; empty: where libdw finds it. Throws Error(unreadable) where libdw cannot read it.
  DwarfIndex(const std::string& path, const ElfFile& file, const std::string& supplement,
             std::shared_ptr<InlineTrees> trees, const ElfImage& image);
  ~DwarfIndex();
  DwarfIndex(const DwarfIndex&) = delete;
  DwarfIndex& operator=(const DwarfIndex&) = delete;

  /// The supplementary file (.gnu_debugaltlink or .debug_sup, made by dwz) this file needs and that is not
  /// read; else its name is empty.
  const MissingSupplement& missingSupplement() const;
  /// As Module::framesAt; one frame without a function name where only the line is known; empty where nothing
  /// is.
  std::vector<SourceFrame> framesAt(uint64_t address);
  /// As Module::variableAt; size 0 where neither DWARF nor a symbol says it.
  std::optional<Variable> variableAt(uint64_t address);

  /// What the indexes are made of, for types and locations.
  Dwarf* handle();
  Units& units();
  SplitUnits& splitUnits();
  Names& names();
  /// The scopes of a DIE's unit, where they were read with its functions; null where they were not.
  const ScopeTree* knownScopes(const Dwarf_Die& die) const;
  /// The DIE of a variable, as variableAt() finds it; null where there is none.
  const StaticVariable* staticVariableAt(uint64_t address);
  /// The same of a thread-local variable, by the offset in the file's thread-local block.
  const StaticVariable* threadLocalAt(uint64_t offset);
  /// By its name, as names() says it; null also where there are several.
  const StaticVariable* threadLocalNamed(const std::string& name);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cacheline::symbols
