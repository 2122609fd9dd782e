// Pointers inside of types: what 8 bytes of an object point to.
#pragma once

#include <cstdint>
#include <optional>

#include "types/type_table.h"

namespace cacheline::types {

/// The same type, though two units may each describe it.
bool isSame(const TypeTable& table, TypeId a, TypeId b);

/// What the pointer at `offset` bytes of an object of this type points to, stripped: through members, bases,
/// arrays and the wrappers around pointers (std::unique_ptr, std::atomic<T*>, Box, slices). kNoType: no
/// pointer starts there, or one to void.
TypeId pointeeAt(const TypeTable& table, TypeId object, uint64_t offset);

/// The node of a container that an iterator of this type leads to, where it points to what nodes of whatever
/// elements begin with (std::list, std::map of libstdc++). At the container's end there is no more than that:
/// only an access behind it is one to a node. kNoType: no such iterator.
TypeId nodeOf(const TypeTable& table, TypeId iterator);

/// An array inside of an object.
struct ArrayPart {
  TypeId element = kNoType;    ///< kNoType: there is none
  uint64_t begin = 0;          ///< bytes from the object's start
  uint64_t elementOffset = 0;  ///< of a byte of the array: in its element
};
/// Where `offset` lies in one object of `type`. nullopt: no byte of an object or of a plausible array of
/// them; or which byte is not known.
struct Within {
  uint64_t offset = 0;
  bool indexed = false;  ///< some elements further on
  ArrayPart array;       ///< where those are elements of an array inside of the object
  bool inside() const { return array.element != kNoType; }
};
/// Whether an object of `type` has an array of elements of which `stride` is a multiple.
bool hasArrayOf(const TypeTable& table, TypeId type, uint64_t stride);
/// `stride`: as AbstractValue::stride.
std::optional<Within> within(const TypeTable& table, TypeId type, int64_t offset, uint64_t stride);

}  // namespace cacheline::types
