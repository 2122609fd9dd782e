// The types of one binary as values: what a debugger and pahole know of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbols/language.h"

namespace cacheline::types {

using TypeId = uint32_t;                ///< index into a TypeTable
inline constexpr TypeId kNoType = ~0u;  ///< void, or not known (stripped)
/// Of members, and what pointers and the like are of: it has a type that cannot be read. Stripped: kNoType.
inline constexpr TypeId kUnreadType = ~0u - 1;
inline constexpr const char* kUnreadName = "(unknown type)";  ///< TypeTable::nameOf(kUnreadType)
/// Members and bases are followed this far into one another: only a damaged file nests deeper.
inline constexpr int kDeepestNesting = 32;

enum class Kind : uint8_t {
  base,
  pointer,
  reference,
  rvalueReference,
  memberPointer,
  structure,
  classType,
  unionType,
  enumeration,
  array,
  function,
  typedefOf,
  constOf,
  volatileOf,
  restrictOf,
  atomicOf,
  unspecified,
};

/// One member of a structure, class or union; of a Rust enum, members of its variants carry `variant`.
struct Member {
  enum class Role : uint8_t { field, base, virtualBase, vtablePointer, discriminant };
  std::string name;  ///< empty: an anonymous structure or union, or a base class
  TypeId type = kNoType;
  uint64_t offset =
      0;  ///< bytes from the type's start; of a bit-field: of its storage unit, as pahole shows it
  uint64_t size = 0;                    ///< bytes; 0: a flexible array or an empty type
  uint32_t bitOffset = 0, bitSize = 0;  ///< of a bit-field, from the storage unit's least significant bit
  uint32_t alignment = 0;               ///< DW_AT_alignment, bytes; 0: not stated
  Role role = Role::field;
  bool incomplete = false;  ///< its type has no size here: its own is the room up to the next member
  bool located = true;      ///< false: a virtual base, whose place DWARF does not say; offset is 0
  std::string variant;      ///< the Rust enum's variant it belongs to; empty: always there
  uint32_t line = 0;        ///< of its declaration; 0: unknown
  std::string file;         ///< of its declaration; empty: the type's
};

struct Type {
  Kind kind = Kind::unspecified;
  /// Readable and with its scopes: `ns::Pool<Worker, 64>`, `core::option::Option<u32>`; of the language's own
  /// form for derived types only through TypeTable::nameOf(). Empty: anonymous.
  std::string name;
  std::optional<uint64_t> size;                     ///< bytes; empty: incomplete
  uint32_t alignment = 0;                           ///< DW_AT_alignment, bytes; 0: not stated
  bool alignmentIsExact = false;                    ///< it is that of the type: its members' do not raise it
  bool declaration = false;                         ///< no definition of it was found
  std::vector<Member> members;                      ///< by offset
  bool vector = false;                              ///< an array that is one SIMD value
  bool complexNumber = false;                       ///< a scalar that is two of its half
  TypeId target = kNoType;                          ///< what a pointer, array, alias or qualifier is of
  std::vector<std::optional<uint64_t>> dimensions;  ///< elements, outermost first; empty: flexible
  std::vector<TypeId> virtualBases;                 ///< direct and indirect, in the ABI's order; stripped
  bool basesUnknown = false;                        ///< a direct or indirect base has no definition here
  std::vector<TypeId> parameters;                   ///< of a function
  TypeId owner = kNoType;  ///< of a member pointer: its class; of a method: its `this`
  bool variadic = false;   ///< a function that takes more
  std::string file;        ///< of the definition; empty: unknown
  uint32_t line = 0;
  symbols::Language language = symbols::Language::unknown;  ///< of the unit that it was read from
};

/// "struct", "class", "union", "enum", "pointer", ...
const char* kindName(Kind kind);
/// The byte behind a member, from its type's start: of a bit-field, behind its last bit.
uint64_t endOf(const Member& member);

}  // namespace cacheline::types
