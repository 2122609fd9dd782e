// Everything about types in one binary: by name, by place in the source, by address.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "layouts/enclosing_types.h"
#include "layouts/layout_signatures.h"
#include "symbols/module.h"
#include "types/type_table.h"

namespace cacheline::layouts {

struct TypedVariable {
  std::string name;  ///< readable, with scopes
  uint64_t address = 0;
  types::TypeId type = types::kNoType;
};

/// What a list of types says of one.
struct TypeSummary {
  std::string name, kind;  ///< kind: struct, class, union, enum
  uint64_t size = 0;       ///< bytes
  std::string file;
  uint32_t line = 0;
};

/// What is declared at a place of the source.
struct Declared {
  types::TypeId type = types::kNoType;
  std::string variable;  ///< a variable or member of that type; empty: the type itself is defined there
  std::string file;      ///< as DWARF says it
  uint32_t line = 0;
};

class BinaryTypes {
 public:
  /// `module` must outlive this. Without debug information everything is empty.
  explicit BinaryTypes(symbols::Module& module);
  ~BinaryTypes();

  types::TypeTable& table();
  /// By which definitions of one name are told apart.
  LayoutSignatures& signatures();
  /// The definitions with this name: fully qualified, or a unique tail of it (`Worker` for `ns::Worker`),
  /// else one that leaves out scopes or the last template arguments (`std::vector<int>`), or all of them
  /// where the template has one instance; spaces and the `struct ` of C do not count. Definitions of the same
  /// layout are one.
  std::vector<types::TypeId> named(const std::string& name);
  /// The typedefs, enumerations and basic types with this name, each thing that they stand for once. Reads
  /// all units, where named() reads the index.
  std::vector<types::TypeId> plainNamed(const std::string& name);
  /// Whether `bytes` of memory may be other structures, end to end, that have a `part` at byte `at` in them;
  /// or nodes of the standard library's containers that store such parts.
  bool mayBePart(types::TypeId part, uint64_t bytes, uint64_t at);
  /// What may lie outside of a `part`, `away` bytes from its start: EnclosingTypes::around() over all
  /// structures.
  const Surroundings& around(types::TypeId part, int64_t away, uint32_t width);
  /// The name, fully qualified or a tail, is declared and nowhere defined.
  bool isDeclared(const std::string& name);
  /// All structures, classes and unions with names, by name, each layout once.
  std::vector<types::TypeId> all();
  /// The same as a list to look through: of all but types that share a name only the index is read.
  std::vector<TypeSummary> list();
  /// What is declared in a source file: types, members and variables of structure types (or pointers to and
  /// arrays of them), and the parameters and local variables; by line. `file`: a path of which DWARF's is a
  /// suffix or which is a suffix of DWARF's, by whole components.
  std::vector<Declared> declaredIn(const std::string& file);
  /// Parts of the debug information that are not read (`.dwo` files): their types are unknown.
  std::vector<symbols::MissingSplit> missing();
  /// The variable with static storage that covers an ELF address, with its type.
  std::optional<TypedVariable> variableAt(uint64_t address);
  /// The same of a thread-local variable, whose `address` is an offset in the binary's thread-local block.
  std::optional<TypedVariable> threadLocalAt(uint64_t offset);
  /// By its readable name; nullopt also where there are several.
  std::optional<TypedVariable> threadLocalNamed(const std::string& name);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cacheline::layouts
