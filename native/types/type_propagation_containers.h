// Accesses to whole fields, and constants that lead out of objects.
#pragma once

#include <cstdint>

#include "types/type_propagation.h"
#include "types/type_table.h"

namespace cacheline::types {

/// Whether an access of `width` bytes at `offset` is to a whole field.
bool isField(const TypeTable& table, TypeId type, uint64_t offset, uint32_t width);
/// Whether a constant leads behind the object that it is counted from: to its neighbour in an array, or to
/// what lies behind a member of something larger.
bool leadsBehind(const TypeTable& table, const AbstractValue& address);

}  // namespace cacheline::types
