// Which types of a binary have objects of another one inside: what a pointer to such an object was counted
// from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "types/type_table.h"

namespace cacheline::layouts {

/// A type with an object of another one inside.
struct Enclosing {
  types::TypeId type = types::kNoType;
  uint64_t offset = 0;  ///< of that object, bytes from the start
};

/// What may lie outside of an object, at some distance from its start, in what contains it.
struct Surroundings {
  std::vector<Enclosing> members;  ///< the innermost types that have a member of the access's width there
  bool others = false;             ///< some type has something else there
  bool all = true;                 ///< every type of the binary was looked at
  uint64_t elements = 0;           ///< of the longest array of several such objects in any type
};

/// More than a half of it are pointers to its own kind: it links what contains it (`struct list_head`, the
/// nodes of trees), and is no element of an array.
bool isLink(const types::TypeTable& table, types::TypeId type);

class EnclosingTypes {
 public:
  explicit EnclosingTypes(const types::TypeTable& table) : table_(table) {}

  /// `type`, stripped: its members lie in it. Arrays of several say nothing: nobody knows
  /// which element a pointer is to.
  void add(types::TypeId type);
  /// Not every type was added.
  void leaveOpen() { all_ = false; }
  /// For an access of `width` bytes, `away` bytes from the start of a `part` and outside of it. The next such
  /// part (a pair of them, where `part` is no link) is no other member.
  Surroundings around(types::TypeId part, int64_t away, uint32_t width) const;

 private:
  struct Climb;
  void addMembers(types::TypeId outer, types::TypeId inner, uint64_t offset, int depth);
  void addArray(types::TypeId type);
  std::string keyOf(types::TypeId type) const;

  const types::TypeTable& table_;
  HashMap<std::string, std::vector<Enclosing>> enclosing_;  ///< by keyOf() of what lies in them
  HashMap<std::string, uint64_t> arrays_;  ///< the longest ones of several, by keyOf() of their elements
  size_t members_ = 0;                     ///< looked at
  bool all_ = true;
};

}  // namespace cacheline::layouts
