// One type DIE as a Type: attributes, members, dimensions.
#pragma once

#include <elfutils/libdw.h>

#include <functional>
#include <optional>

#include "types/type.h"

namespace cacheline::types {

/// What the reader asks the table: ids of other types, never their contents, so that reading does not
/// recurse.
struct TypeSource {
  std::function<TypeId(Dwarf_Die)> of;                    ///< of a type DIE; or kUnreadType
  std::function<std::optional<uint64_t>(TypeId)> sizeOf;  ///< bytes
  /// Whether objects of it have a size that is not known; flexible arrays have none.
  std::function<bool(TypeId)> isIncomplete;
  std::function<std::string(Dwarf_Die&)> fileOf;  ///< DW_AT_decl_file of this very DIE
};

/// The Kind of a DIE's tag; nullopt: no type.
std::optional<Kind> kindOf(int tag);
/// `structure`, `classType` or `unionType`.
bool isAggregate(Kind kind);
/// The flag attribute of this very DIE.
bool flagAttribute(Dwarf_Die& die, unsigned name);
/// A size in bytes that DWARF states for this very DIE; nullopt where it does not or cannot be right.
std::optional<uint64_t> statedSize(Dwarf_Die& die);

/// Kind, size, target and dimensions: what sizes are made of. Names and members are left out.
void readHead(Dwarf_Die die, const TypeSource& source, Type& type);
/// The members of a structure, class or union, in the order of the source. `type` has its head.
void readMembers(Dwarf_Die die, const TypeSource& source, Type& type);
/// The types of a function type's parameters.
void readParameters(Dwarf_Die die, const TypeSource& source, Type& type);

}  // namespace cacheline::types
