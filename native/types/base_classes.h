// Where the base classes of a complete object are, and how much of it they take.
#pragma once

#include "types/type_table.h"

namespace cacheline::types {

/// `type` has its members in the order of the source. Sets what DWARF leaves to the ABI (Itanium C++
/// ABI, 2.4):
/// - the size of a base inside of this class: none where it is empty, without its own virtual bases, and
///   without its tail padding where a member lies there;
/// - `virtualBases`, and the places of the virtual bases, indirect ones as members too. They are kept only
///   where the size that follows is the one that DWARF states: else Member::located stays false.
void placeBases(const TypeTable& table, Type& type);

/// A class without data, although C++ gives it a byte: `std::allocator<T>`.
bool isEmptyClass(const TypeTable& table, TypeId type);

}  // namespace cacheline::types
