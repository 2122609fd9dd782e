// Numbers for the types of members, by which definitions of one name are told apart.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "symbols/child_lists.h"

namespace cacheline::types {

/// The hash of the name, with its scopes, of a class, enumeration or alias; 0: it is not known.
using NameHash = std::function<uint64_t(const Dwarf_Die& die)>;

/// Of what a type is called and how large it is: the same where two units say the same of a member, whichever
/// DIEs they have for it. A few spellings of one type (by different compilers) have several. Good for one
/// unit.
class TypeHashes {
 public:
  TypeHashes(Dwarf_CU* unit, NameHash nameOf);
  uint64_t of(const Dwarf_Die& type);

 private:
  struct Hash {
    uint64_t name = 0, size = 0;
  };
  struct Facts;
  Hash of(const Dwarf_Die& type, unsigned qualifiers, int depth);
  Hash make(Dwarf_Die die, unsigned qualifiers, int depth);
  uint64_t dimensions(const Dwarf_Die& array);
  uint64_t contents(const Dwarf_Die& structure, int depth);
  uint64_t parameters(const Dwarf_Die& function, int depth);

  Dwarf_CU* unit_;
  NameHash nameOf_;
  symbols::ChildLists children_;
  std::unordered_map<uint64_t, Hash> known_;  ///< by the DIE's place in memory and qualifiers
};

}  // namespace cacheline::types
