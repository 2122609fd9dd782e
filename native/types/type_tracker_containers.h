// Members that code finds their object by: container_of, intrusive lists.
#pragma once

#include <cstdint>
#include <map>

#include "types/type_table.h"
#include "types/type_tracker.h"

namespace cacheline::types {

/// Whether an access of `width` bytes at `offset` is to a whole field.
bool isField(const TypeTable& table, TypeId type, uint64_t offset, uint32_t width);
/// Whether a constant leads behind the object that it is counted from: to its neighbour in an array, or to
/// what lies behind a member of something larger.
bool leadsBehind(const TypeTable& table, const Held& address);

/// What contains the members of a function, learned where it counts back from one of them.
class Containers {
 public:
  explicit Containers(const TypeTable& table) : table_(table) {}

  /// What held `before` is stated to be another object: where `before` lies ahead of its own, and that is a
  /// member of the other, the two belong together.
  void learn(const Held& before, const Held& stated);
  /// A place outside of the object that it is counted from, in what contains that; the place itself where
  /// nothing, or more than one thing, is known to.
  Held of(const Held& address) const;

 private:
  struct Container {
    TypeId type = kNoType;  ///< kNoType: there are several
    uint64_t offset = 0;    ///< of the member in it
    bool operator==(const Container&) const = default;
  };
  const TypeTable& table_;
  std::map<TypeId, Container> known_;  ///< by the member's type
};

}  // namespace cacheline::types
