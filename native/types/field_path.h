// From a byte of an object to the member that lies there.
#pragma once

#include <string>
#include <vector>

#include "types/type_table.h"

namespace cacheline::types {

struct FieldPath {
  std::string path;     ///< from the object's type: `today.cents`, `slots[2].count`; empty: the whole object
  uint64_t offset = 0;  ///< bytes from the object's start to the field's
  uint64_t size = 0;    ///< bytes of the field
  TypeId type = kNoType;
  /// Of the outermost array on the way: which element; empty: no array.
  std::optional<uint64_t> index;
};

/// The innermost members that hold `width` bytes at `offset`; where no single one holds them all, the
/// innermost that does (maybe the whole object). Several where unions, variants or bit-fields overlap. Empty:
/// in a hole, or outside the type. An access wider than a member names the member it starts in.
std::vector<FieldPath> fieldsAt(const TypeTable& table, TypeId type, uint64_t offset, uint32_t width);

}  // namespace cacheline::types
