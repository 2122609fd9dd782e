// The alignment of a type, which DWARF states only where the source does.
#pragma once

#include "types/type_table.h"

namespace cacheline::types {

/// Bytes, powers of two.
struct Alignment {
  uint64_t least = 1, most = 1;  ///< where they differ, the debug information does not say which
};
/// What the type or its members state, else the natural alignment of the x86-64 and Arm 64-bit ABIs (a
/// scalar's is its size, at most 16; a vector's its size; a complex number's that of its half). On the i386 a
/// scalar of at most 8 bytes has at most 4.
/// It is left open where something inside has no definition, and of a structure that is seen to be packed;
/// then the members' places and the size bound it.
Alignment alignmentOf(const TypeTable& table, TypeId type);
/// Bytes that `new T[n]` keeps ahead of objects that are to be destroyed (Itanium C++ ABI); at least, where
/// the alignment is open.
uint64_t arrayCookie(const TypeTable& table, TypeId type);
/// Of a class as a base, whose virtual bases lie elsewhere. What gcc states of a class includes theirs:
/// `stated` counts that, too.
Alignment nonVirtualAlignment(const TypeTable& table, const Type& type, bool stated);

}  // namespace cacheline::types
