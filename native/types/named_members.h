// The members of a structure as the source names them: anonymous members and bases opened up, wrappers seen
// through.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/type_table.h"

namespace cacheline::types {

struct NamedMember {
  std::string name;  ///< `count`, `Base::count` where that alone could mean another, `Some.0` of a Rust enum
  uint64_t offset = 0;     ///< bytes from the structure's start
  Member member;           ///< as its own structure has it; its offset is from there
  TypeId owner = kNoType;  ///< that structure: `type`, a base of it, or an anonymous one inside
};

/// Members of anonymous structures and unions and of base classes are members of `type` here, with their own
/// names: a base's name stands in front only where the member's name appears twice. A virtual base whose
/// place is unknown is left out. `type` is stripped; no structure, class or union: empty.
std::vector<NamedMember> namedMembers(const TypeTable& table, TypeId type);

/// Of a type, its bases and theirs the first that the debug information does not define: it may have members
/// that namedMembers() does not know. kUnreadType: one without a name. Nullopt: all are defined.
std::optional<TypeId> undefinedPart(const TypeTable& table, TypeId type);

/// Whether a type of this name belongs to a standard library: namespaces std, __gnu_cxx, core, alloc; Go's
/// sync/atomic and atomic.
bool isStandard(std::string_view name);

/// Whether a type of this name is libstdc++'s buffer of bytes for an element of a container (std::list,
/// std::map, std::make_shared): they are as many as what its template is made with has.
bool isElementBuffer(std::string_view name);

/// What a wrapper of a standard library wraps: of `std::atomic<long>` the long, of `std::array<T, 4>` the
/// T[4]. Its types with one member
/// that is not empty are no level of their own for whoever reads a path: `count`, not `count._M_i`. Nullopt:
/// `type` is no such wrapper.
std::optional<NamedMember> wrapped(const TypeTable& table, TypeId type);

}  // namespace cacheline::types
