// From a byte of an object to the member that lies there.
#pragma once

#include <string>
#include <vector>

#include "types/type_table.h"

namespace cacheline::types {

/// A structure inside of an object.
struct InnerObject {
  TypeId type = kNoType;  ///< stripped
  uint64_t offset = 0;    ///< bytes from the object's start
};

struct FieldPath {
  std::string path;     ///< from the object's type: `today.cents`, `slots[2].count`; empty: the whole object
  uint64_t offset = 0;  ///< bytes from the object's start to the field's
  uint64_t size = 0;    ///< bytes of the field
  TypeId type = kNoType;
  /// Of the outermost array on the way: which element (of its outermost dimension); empty: no array.
  std::optional<uint64_t> index;
  /// Structures with a name that hold the field, outermost first, the object itself included; of a standard
  /// library's wrappers only what they wrap. Base classes are part of what is derived from them.
  std::vector<InnerObject> around;
};

/// The type ends in an array without a length of its own (or the zero-length one of GNU C): what lies behind
/// an object are elements of it, no other objects.
bool endsInFlexibleArray(const TypeTable& table, TypeId type);

/// Whether an object of type `outer` has one of type `inner` at `offset`, at whatever depth, in whatever
/// union; or is one. The elements that a container's node or make_shared's block hold are no part of it: they
/// are what people speak of.
bool contains(const TypeTable& table, TypeId outer, uint64_t offset, TypeId inner);

/// The same of a structure, class or union that another binary knows as `inner`, which describes it in its
/// own debug information. Told by sizes and members: a C library's mutex is an anonymous union in one binary
/// and named by its typedef in the other.
bool containsSame(const TypeTable& table, TypeId outer, uint64_t offset, const TypeTable& others,
                  TypeId inner);

/// A class that may have a member at some byte, for all that the debug information says.
struct OpenClass {
  TypeId type = kNoType;
  bool placed = true;  ///< it lies there, and is not defined; false: a virtual base whose place is not known
};
/// Where fieldsAt() finds none, or one whose type is not defined. Nullopt: no such class.
std::optional<OpenClass> openClassAt(const TypeTable& table, TypeId type, uint64_t offset);

/// The innermost members that hold `width` bytes at `offset`; where no single one holds them all, the
/// innermost that does (maybe the whole object). Several where unions, variants or bit-fields overlap. Empty:
/// in a hole, or outside the type. An access wider than a member names the member it starts in. `element`,
/// not 0: the offset is in any of the elements of so many bytes, and paths have `[?]` for those of longer
/// arrays.
std::vector<FieldPath> fieldsAt(const TypeTable& table, TypeId type, uint64_t offset, uint32_t width,
                                uint64_t element = 0);
/// Whether an access of `width` bytes at `offset` is to a whole field.
bool isField(const TypeTable& table, TypeId type, uint64_t offset, uint32_t width);

}  // namespace cacheline::types
