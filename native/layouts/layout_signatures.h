// What tells definitions of one name apart: how they lie in memory, not where the source has them, as one
// header may be seen by two paths.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "types/type_table.h"

namespace cacheline::layouts {

class LayoutSignatures {
 public:
  /// `table` must outlive this.
  explicit LayoutSignatures(const types::TypeTable& table) : table_(table) {}
  /// A hash of the layout of a structure, class or union, and of all that lies in it.
  uint64_t of(types::TypeId type) { return signature(type, 0).whole; }
  /// Whether they differ at most in what is inside of their members.
  bool lookAlike(types::TypeId one, types::TypeId other);
  /// By what two that look alike differ: the names of structures in the one that are others in the other.
  std::vector<std::string> differing(types::TypeId one, types::TypeId other);

 private:
  struct Signature {
    uint64_t outside = 0, whole = 0;
  };
  Signature signature(types::TypeId type, int depth);
  uint64_t outside(types::TypeId structure) const;
  /// Of its members and of the elements of arrays.
  std::vector<types::TypeId> structuresIn(types::TypeId type) const;

  const types::TypeTable& table_;
  HashMap<uint32_t, Signature> known_;
};

}  // namespace cacheline::layouts
