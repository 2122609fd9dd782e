// What the bytes of a DIE say of a type, an alias, a variable or a member, for the index.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/hash.h"
#include "symbols/die_scan.h"
#include "types/type.h"

namespace cacheline::types {

inline constexpr uint64_t kHashStart = 0xcbf29ce484222325;

/// Structures, classes and unions.
bool isAggregateTag(int tag);

/// A named thing by its own attributes.
struct RawEntry {
  Dwarf_Die die{};
  Dwarf_Off offset = 0;
  std::string_view name;
  Kind kind = Kind::structure;
  uint64_t hash = kHashStart;  ///< of its size and alignment; then of its members, too
  uint64_t size = 0, file = 0, line = 0;
  bool declared = false;
  bool variants = false;
  bool specified = false;        ///< completes a declaration, which has its scopes
  bool nested = false;           ///< in a scope
  const void* target = nullptr;  ///< of an alias, of what a type unit defines, and of what completes a
                                 ///< declaration: the DIE's place in memory
};

class RawReader {
 public:
  /// `scan`: of the unit with this root; it must outlive this.
  RawReader(const symbols::DieScan& scan, Dwarf_Die root);

  RawEntry read(const symbols::DieScan::Here& here) const;
  /// `hash` of a definition, mixed with what tells one of its members from others. Nullopt for a static
  /// member, which objects do not have.
  std::optional<uint64_t> hashMember(const symbols::DieScan::Here& here, uint64_t hash) const;
  /// What its DW_AT_type leads to, in this unit or another one.
  std::optional<Dwarf_Die> typeOf(const symbols::DieScan::Here& here) const;
  /// What a function or block is called as a scope; nullopt: it is a function without a body.
  std::optional<std::string_view> scopeName(const symbols::DieScan::Here& here) const;
  /// A string attribute; empty where it cannot be read.
  std::string_view text(const symbols::DieScan::Here& here, const symbols::DieScan::Raw& raw) const;

 private:
  const void* targetOf(const symbols::DieScan::Here& here, const symbols::DieScan::Raw& raw) const;

  const symbols::DieScan& scan_;
  Dwarf* file_;
  const uint8_t* unitBegin_;
};

}  // namespace cacheline::types
