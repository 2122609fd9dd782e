// Where the virtual bases of a complete object lie: DWARF only says how a program finds them in a vtable.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "types/type_table.h"

namespace cacheline::types {

/// Whether a class has data of its own; see the Itanium C++ ABI, 1.1. `unsure`: it has members of empty
/// classes, and DWARF does not say whether they are [[no_unique_address]].
enum class Emptiness : uint8_t { empty, unsure, data };
Emptiness emptinessOf(const TypeTable& table, TypeId type);

/// Bytes that a class takes as a base, without its virtual bases: up to the end of its last member, bases
/// without data included. Its tail padding may be used by others.
uint64_t nonVirtualSize(const TypeTable& table, const Type& type);
/// The same where its own bases keep no tail padding either, nor theirs.
uint64_t leastNonVirtualSize(const TypeTable& table, const Type& type);

/// The first byte where a virtual base with data may lie, behind what is not virtual.
uint64_t leastDataEnd(const TypeTable& table, const Type& type);

/// Offsets of `type.virtualBases`, in their order, as the Itanium C++ ABI (2.4) lays them out. DWARF leaves
/// out what some steps depend on: all ways are tried, and only where those that lead to the stated size
/// agree are there offsets. `type` has its non-virtual members in place.
std::optional<std::vector<uint64_t>> placesOfVirtualBases(const TypeTable& table, const Type& type);

}  // namespace cacheline::types
