// The alignment of a type, which DWARF states only where the source does.
#pragma once

#include "types/type_table.h"

namespace cacheline::types {

/// Bytes, at least 1: what the type or its members state, else the natural alignment of the x86-64 and Arm
/// 64-bit ABIs (a scalar's is its size, at most 16; a vector's its size; a complex number's that of its
/// half). A packed structure's is the largest that its size and its members' offsets allow.
uint64_t naturalAlignment(const TypeTable& table, TypeId type);

}  // namespace cacheline::types
