// The alignment of a type, which DWARF states only where the source does.
#pragma once

#include "types/type_table.h"

namespace cacheline::types {

/// Bytes, at least 1: what the type or its members state, else the natural alignment of the x86-64 and Arm
/// 64-bit ABIs (a scalar's is its size, at most 16; a vector's its size; a complex number's that of its
/// half). On the i386 a scalar of at most 8 bytes has at most 4.
/// A packed structure's is the largest that its size and its members' offsets allow; where other members
/// keep gaps for theirs, only those that lie off their own are packed.
uint64_t naturalAlignment(const TypeTable& table, TypeId type);
struct Alignment {
  uint64_t bytes = 1;
  bool isLeast = false;  ///< something in the type has no definition, and may ask for more
};
/// The natural alignment, and whether that is all of it.
Alignment alignmentOf(const TypeTable& table, TypeId type);
/// Bytes that `new T[n]` keeps ahead of objects that are to be destroyed (Itanium C++ ABI).
uint64_t arrayCookie(const TypeTable& table, TypeId type);
/// Of a class as a base, whose virtual bases lie elsewhere. What gcc states of a class includes theirs:
/// `stated` counts that, too.
uint64_t nonVirtualAlignment(const TypeTable& table, const Type& type, bool stated);

}  // namespace cacheline::types
