// Types read from DWARF when they are asked for, each once.
#pragma once

#include <elfutils/libdw.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "symbols/dwarf_index.h"
#include "types/type.h"

namespace cacheline::types {

/// Finds the definition of a structure, class, union or enumeration that a unit only declares, by its name
/// with scopes; nullopt: there is none.
using FindDefinition =
    std::function<std::optional<Dwarf_Die>(const Dwarf_Die& declaration, const std::string& name)>;

/// Of a machine's ABI, what layouts depend on and DWARF does not say.
struct Target {
  uint64_t pointer = 8;        ///< bytes
  uint64_t largestScalar = 8;  ///< alignment of a scalar of at most 8 bytes in a structure, at most
};

/// Not thread-safe, like libdw. Types that DWARF repeats in several units stay several TypeIds.
class TypeTable {
 public:
  /// `dwarf` may be null (everything is then unknown) and must outlive this. `index`, which may be null,
  /// saves walks.
  explicit TypeTable(Dwarf* dwarf, const symbols::DwarfIndex* index = nullptr,
                     FindDefinition findDefinition = {});
  ~TypeTable();
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;

  /// The type that a type DIE stands for, a declaration's definition where one is found. kNoType where DWARF
  /// cannot be right (loops, impossible sizes), or says no more than that there is a type.
  TypeId of(const Dwarf_Die& die);
  /// The type of what `die` (a variable, parameter, member, pointer, ...) has in DW_AT_type, through
  /// DW_AT_abstract_origin and DW_AT_specification.
  TypeId typeOf(const Dwarf_Die& die);
  /// The type that another table of the same file, opened once more, calls `type`. nullopt where a DIE's
  /// number does not tell: it is in another file or section.
  std::optional<TypeId> sameAs(const TypeTable& other, TypeId type);
  const Type& operator[](TypeId type) const;  ///< stays where it is
  /// Its kind alone, for which neither names nor members are read; `unspecified` for kNoType.
  Kind kind(TypeId type) const;
  /// Through typedefs and qualifiers.
  TypeId strip(TypeId type) const;
  /// What a pointer or reference, through typedefs and qualifiers, points to, stripped; kNoType where `type`
  /// is none.
  TypeId pointee(TypeId type) const;
  /// The first type that a template or generic type was made with, stripped; kNoType: there is none.
  TypeId firstArgument(TypeId type) const;
  /// What a class's own typedef of this name stands for, stripped; kNoType: it has none.
  TypeId aliasIn(TypeId type, const std::string& name) const;
  /// Bytes, through typedefs, qualifiers and arrays.
  std::optional<uint64_t> sizeOf(TypeId type) const;
  /// As the source would write it: `const Worker *`, `std::atomic<long>[4]`, `void (*)(int)`.
  std::string nameOf(TypeId type) const;
  /// The same of a type DIE; kUnreadName of what is none.
  std::string nameOf(const Dwarf_Die& die);
  /// What the file was compiled for.
  const Target& target() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cacheline::types
