// The alignment of a type, which DWARF states only where the source does.
#pragma once

#include <optional>

#include "types/type_table.h"

namespace cacheline::layouts {

/// Bytes, a power of two: what the debug information states of the type, else the natural alignment of the
/// x86-64 and Arm 64-bit ABIs (a scalar's is its size, at most 16; a vector's its size; a complex number's
/// that of its half; on the i386 a scalar of at most 8 bytes has at most 4), of a structure the largest of
/// its members'. None where that does not explain how the members lie (something is packed), or where
/// something inside has no definition. A packed structure whose members lie as if it were not, as in {u64,
/// u32, u32}, is taken for one that is not.
std::optional<uint64_t> alignmentOf(const types::TypeTable& table, types::TypeId type);
/// Bytes that `new T[n]` keeps ahead of objects that are to be destroyed (Itanium C++ ABI); at least, where
/// the alignment is not known.
uint64_t arrayCookie(const types::TypeTable& table, types::TypeId type);

}  // namespace cacheline::layouts
