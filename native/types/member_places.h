// How members lie where DWARF leaves it to the ABI: bases, and members without a size of their own.
#pragma once

#include "types/type.h"
#include "types/type_table.h"

namespace cacheline::types {

/// `type` has its members in the order of the source. Sets what DWARF leaves to the ABI (Itanium C++
/// ABI, 2.4):
/// - the size of a base inside of this class: none where it is empty, without its own virtual bases, and
///   at most up to the next member, which may lie in its tail padding;
/// - `virtualBases`, indirect ones too. Where they lie DWARF does not say: Member::located stays false.
void sizeBases(const TypeTable& table, Type& type);

/// The first byte behind the last scalar that is not a virtual base's: what follows is padding, or theirs.
uint64_t dataEnd(const TypeTable& table, const Type& type);

/// A class without data, although C++ gives it a byte: `std::allocator<T>`.
bool isEmptyClass(const TypeTable& table, TypeId type);

/// Puts members into the order of their offsets, and gives incomplete ones their room.
void sortMembers(Type& type);

}  // namespace cacheline::types
