// Numbers for the names of types with their scopes: the same for all DIEs of one name, in whichever unit.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "types/raw_entry.h"
#include "types/scopes.h"

namespace cacheline::types {

class NameHashes;

/// Whether a tag is that of a scope, or of a type that a scope has.
bool hasNames(int tag);

/// The names of one unit, as a walk over it meets them.
class UnitNames {
 public:
  explicit UnitNames(NameHashes& others) : others_(&others) {}
  /// Of the scopes around.
  uint64_t outer() const { return scopes_.empty() ? kHashStart : scopes_.back(); }
  /// Into a namespace, function or block.
  void open(std::string_view name) { scopes_.push_back(mix(outer(), name)); }
  /// Into a class; the hash of its name. One that completes a declaration, or that a type unit defines, goes
  /// by the name there.
  uint64_t open(RawEntry& type);
  void close() { scopes_.pop_back(); }
  /// An alias or enumeration.
  void add(const RawEntry& type);
  /// 0: not met, or without a name.
  uint64_t of(const void* place) const;

 private:
  NameHashes* others_;
  std::vector<uint64_t> scopes_;
  std::vector<std::pair<const void*, uint64_t>> dies_;  ///< ascending
};

/// Of a file and those it continues in: other units are read when they are asked about, and kept.
class NameHashes {
 public:
  /// `scopes`: for the template arguments that compilers leave out of names.
  explicit NameHashes(Scopes& scopes) : scopes_(scopes) {}
  NameHashes(const NameHashes&) = delete;
  NameHashes& operator=(const NameHashes&) = delete;
  /// Of a class, enumeration or alias; 0: it has no name.
  uint64_t of(const Dwarf_Die& die);
  /// What a walk over the whole unit found.
  void keep(Dwarf_CU* unit, UnitNames names) { units_.insert_or_assign(unit, std::move(names)); }

 private:
  void read(Dwarf_CU* unit, UnitNames& names);

  Scopes& scopes_;
  std::unordered_map<Dwarf_CU*, UnitNames> units_;
  int depth_ = 0;  ///< units that are being read, each because of the one before
};

}  // namespace cacheline::types
