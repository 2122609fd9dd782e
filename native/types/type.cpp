// Names of the kinds of types, and where members end.
#include "types/type.h"

namespace cacheline::types {

const char* kindName(Kind kind) {
  switch (kind) {
    case Kind::base:
      return "base type";
    case Kind::pointer:
      return "pointer";
    case Kind::reference:
    case Kind::rvalueReference:
      return "reference";
    case Kind::memberPointer:
      return "member pointer";
    case Kind::structure:
      return "struct";
    case Kind::classType:
      return "class";
    case Kind::unionType:
      return "union";
    case Kind::enumeration:
      return "enum";
    case Kind::array:
      return "array";
    case Kind::function:
      return "function";
    case Kind::typedefOf:
      return "typedef";
    case Kind::constOf:
      return "const";
    case Kind::volatileOf:
      return "volatile";
    case Kind::restrictOf:
      return "restrict";
    case Kind::atomicOf:
      return "atomic";
    case Kind::unspecified:
      break;
  }
  return "unspecified type";
}

uint64_t endOf(const Member& member) {
  if (member.bitSize == 0) return member.offset + member.size;
  return member.offset + (uint64_t{member.bitOffset} + member.bitSize + 7) / 8;
}

}  // namespace cacheline::types
