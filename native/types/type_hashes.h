// Numbers for the types of members, by which definitions of one name are told apart.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "base/hash.h"
#include "symbols/die_scan.h"
#include "types/raw_entry.h"

namespace cacheline::types {

/// The hash of the name, with its scopes, of a class, enumeration or alias; 0: it is not known.
using NameHash = std::function<uint64_t(const Dwarf_Die& die)>;

/// Of what a type is called and how large it is: the same where two units say the same of a member, whichever
/// DIEs they have for it. A few spellings of one type (by different compilers) have several. Good for one
/// unit.
class TypeHashes {
 public:
  struct TypeHash {
    uint64_t hash = 0;
    const void* structure = nullptr;  ///< what objects of the type consist of: its DIE's place in memory
  };
  TypeHashes(Dwarf_CU* unit, NameHash nameOf);
  TypeHash of(const Dwarf_Die& type);

 private:
  struct Hash {
    uint64_t name = 0, size = 0;
    const void* structure = nullptr;
  };
  struct Unit {
    symbols::DieScan scan;
    RawReader reader;
    uint64_t signature = 0;  ///< of a type unit; 0: it is another one
    Unit(Dwarf_Die root, uint64_t* mostBytes);
    Unit(const Unit&) = delete;
    Unit& operator=(const Unit&) = delete;
  };
  using Here = symbols::DieScan::Here;
  struct Facts;
  Unit* unitOf(Dwarf_CU* unit);
  Hash of(const Dwarf_Die& type, unsigned asked, int depth);
  Hash of(Unit& unit, const Here& here, const symbols::DieScan::Raw& reference, unsigned asked, int depth);
  Hash make(Unit& unit, const Here& here, unsigned asked, int depth);
  uint64_t nameHash(const Unit& unit, const Here& here, const Facts& facts) const;
  template <typename Each>
  void forEachChild(Unit& unit, const Here& parent, Each each);
  uint64_t dimensions(Unit& unit, const Here& array);
  uint64_t contents(Unit& unit, const Here& structure, int depth);
  uint64_t parameters(Unit& unit, const Here& function, int depth);

  Dwarf_CU* unit_;
  NameHash nameOf_;
  /// Bytes of DIEs that walks may go over. First what a small unit may need of the large one that dwz moved
  /// its types to.
  uint64_t left_ = 1 << 14;
  std::unordered_map<Dwarf_CU*, Unit> units_;
  HashMap<uint64_t, Hash> known_;  ///< by the DIE's place in memory and what it is asked with
};

}  // namespace cacheline::types
