// Structures that several binaries have: each describes them in its own debug information.
#pragma once

#include "types/type_table.h"

namespace cacheline::types {

/// Whether an object of type `outer` has at `offset`, at whatever depth, the structure, class or union that
/// another binary knows as `inner`. Told by sizes and members: a C library's mutex is an anonymous union in
/// one binary and named by its typedef in the other.
bool containsSame(const TypeTable& table, TypeId outer, uint64_t offset, const TypeTable& others,
                  TypeId inner);

}  // namespace cacheline::types
