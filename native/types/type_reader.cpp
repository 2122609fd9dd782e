// Format: DWARF 5, chapter 5 (types) and 5.7.6 (bit-fields); DW_AT_bit_offset is DWARF 3, 5.5.6. What a file
// says is checked here: sizes and places that cannot be are left unknown.
#include "types/type_reader.h"

#include <dwarf.h>
#include <libelf.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "symbols/die.h"

namespace cacheline::types {
namespace {

using symbols::addressSizeOf;
using symbols::forEachChild;
using symbols::referenceAttribute;
using symbols::stringAttribute;
using symbols::unsignedAttribute;

constexpr uint64_t kLargestType = uint64_t{1} << 47;  ///< bytes: a user's address space
constexpr size_t kMostChildren = 1 << 20;             ///< of one DIE
constexpr size_t kMostDimensions = 64;

bool isBigEndian(const Dwarf_Die& die) {
  size_t size = 0;
  const char* ident = elf_getident(dwarf_getelf(dwarf_cu_getdwarf(die.cu)), &size);
  return ident != nullptr && size > EI_DATA && ident[EI_DATA] == ELFDATA2MSB;
}

/// Of a structure that states an alignment: whether it is the one that it has. rustc and gcc say that, others
/// what the source asks for.
bool statesWholeAlignment(Dwarf_Die die) {
  Dwarf_Die unit;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return false;
  const char* producer = stringAttribute(unit, DW_AT_producer);
  return dwarf_srclang(&unit) == DW_LANG_Rust ||
         (producer != nullptr && std::string_view(producer).starts_with("GNU "));
}

/// A constant attribute that may be negative.
std::optional<int64_t> signedAttribute(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Sword value = 0;
  if (dwarf_attr(&die, name, &attribute) == nullptr || dwarf_formsdata(&attribute, &value) != 0)
    return std::nullopt;
  return value;
}

/// DW_AT_data_member_location where it is a constant, plain or as the expression that DWARF 2 and 3 want.
struct MemberPlace {
  bool stated = false;
  std::optional<uint64_t> offset;
};
MemberPlace placeOf(Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  if (dwarf_attr(&die, DW_AT_data_member_location, &attribute) == nullptr) return {};
  switch (dwarf_whatform(&attribute)) {
    case DW_FORM_block:
    case DW_FORM_block1:
    case DW_FORM_block2:
    case DW_FORM_block4:
    case DW_FORM_exprloc:
      break;
    default: {
      Dwarf_Word value = 0;
      if (dwarf_formudata(&attribute, &value) != 0 || value > kLargestType) return {true, std::nullopt};
      return {true, value};
    }
  }
  Dwarf_Op* ops = nullptr;
  size_t count = 0;
  if (dwarf_getlocation(&attribute, &ops, &count) != 0 || count != 1 || ops[0].atom != DW_OP_plus_uconst ||
      ops[0].number > kLargestType)
    return {true, std::nullopt};
  return {true, ops[0].number};
}

/// Puts a bit-field that begins at a bit, counted in the memory's order, into the storage unit of its type
/// that holds it, as the C ABIs align it; a packed one that lies across two begins at its first byte.
void placeBits(uint64_t first, uint64_t bits, uint64_t unit, bool big, Member& member) {
  const uint64_t offset = first / (unit * 8) * unit, bit = first - offset * 8;
  member.offset = offset;
  member.size = unit;
  member.bitSize = static_cast<uint32_t>(bits);
  member.bitOffset = static_cast<uint32_t>(big && unit * 8 >= bit + bits ? unit * 8 - bit - bits : bit);
}

/// The smallest storage unit that holds a bit-field of a type that is not known.
uint64_t leastUnit(uint64_t first, uint64_t bits) {
  uint64_t unit = 1;
  while (unit < 8 && first / (unit * 8) != (first + bits - 1) / (unit * 8)) unit *= 2;
  return unit;
}

void placeBitField(Dwarf_Die& die, uint64_t bits, Member& member) {
  uint64_t unit = unsignedAttribute(die, DW_AT_byte_size).value_or(member.size);
  if (bits == 0 || bits > 512) return;
  if (const auto bit = unsignedAttribute(die, DW_AT_data_bit_offset); bit && member.incomplete)
    unit = leastUnit(*bit, bits);
  if (unit == 0 || unit > 64) return;
  const bool big = isBigEndian(die);
  uint64_t first = member.offset * 8;
  if (const auto bit = unsignedAttribute(die, DW_AT_data_bit_offset)) {
    if (*bit > kLargestType) return;
    first = *bit;
  } else if (const auto fromTop = signedAttribute(die, DW_AT_bit_offset)) {
    if (*fromTop < -1024 || *fromTop > 1024) return;
    const int64_t within = big ? *fromTop : static_cast<int64_t>(unit * 8 - bits) - *fromTop;
    if (within < -static_cast<int64_t>(first) || within > 512) return;
    first = static_cast<uint64_t>(static_cast<int64_t>(first) + within);
  }
  member.incomplete = false;
  if (bits <= unit * 8) return placeBits(first, bits, unit, big, member);
  // C++ has bit-fields that are wider than their type, which the first bits hold. Whole bytes are clang's way
  // to say that an _Atomic structure is wider than the structure.
  if (first % 8 != 0 || bits % 8 != 0) return placeBits(first, unit * 8, unit, big, member);
  member.offset = first / 8;
  member.size = bits / 8;
}

/// Clang does not say of a bit-field as wide as its type that it is one: a packed one begins in the byte in
/// which the bit-field before it ends.
void continueBits(Dwarf_Die& die, const Member& before, Member& member) {
  const uint64_t end = before.offset * 8 + before.bitOffset + before.bitSize;
  if (before.bitSize == 0 || end % 8 == 0 || end / 8 != member.offset) return;
  if (member.size == 0 || member.size > 8 || isBigEndian(die)) return;
  auto type = referenceAttribute(die, DW_AT_type);
  if (type) type = symbols::unqualified(*type, true);
  if (!type) return;
  if (const int tag = dwarf_tag(&*type); tag != DW_TAG_base_type && tag != DW_TAG_enumeration_type) return;
  placeBits(end, member.size * 8, member.size, false, member);
}

/// The type that an attribute of this very DIE refers to.
TypeId typeIn(Dwarf_Die& die, unsigned name, const TypeSource& source) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (dwarf_attr(&die, name, &attribute) == nullptr) return kNoType;
  return dwarf_formref_die(&attribute, &type) != nullptr ? source.of(type) : kUnreadType;
}

class MemberReader {
 public:
  MemberReader(Dwarf_Die die, const TypeSource& source, Type& type)
      : die_(die), source_(source), type_(type), rust_(symbols::languageOf(die) == DW_LANG_Rust) {}

  void read() { children(die_, 0, {}); }

 private:
  /// `moved`: where `of` begins in the type.
  void children(Dwarf_Die of, uint64_t moved, const std::string& variant) {
    forEachChild(of, [&](Dwarf_Die& child) {
      switch (dwarf_tag(&child)) {
        case DW_TAG_member:
          add(child, moved, variant);
          break;
        case DW_TAG_inheritance:
          addBase(child, moved);
          break;
        case DW_TAG_variant_part:
          if (variant.empty()) addVariants(child);
          break;
        default:
          break;
      }
      return type_.members.size() < kMostChildren;
    });
  }

  Member* add(Dwarf_Die& die, uint64_t moved, const std::string& variant) {
    // A static member: DWARF 4 declares it here, its storage is a variable's.
    if (flagAttribute(die, DW_AT_external) || flagAttribute(die, DW_AT_declaration)) return nullptr;
    Member member;
    const char* name = stringAttribute(die, DW_AT_name);
    member.name = memberName(name != nullptr ? name : "");
    const MemberPlace place = placeOf(die);
    if (place.stated && !place.offset) return nullptr;
    readType(die, member);
    member.offset = place.offset.value_or(0);
    if (const auto bits = unsignedAttribute(die, DW_AT_bit_size))
      placeBitField(die, *bits, member);
    else if (!type_.members.empty() && type_.kind != Kind::unionType && variant.empty())
      continueBits(die, type_.members.back(), member);
    member.offset += moved;
    if (type_.size && member.offset > *type_.size) return nullptr;
    if (member.name == "_vptr") member.role = Member::Role::vtablePointer;
    member.variant = variant;
    common(die, member);
    type_.members.push_back(std::move(member));
    return &type_.members.back();
  }

  void addBase(Dwarf_Die& die, uint64_t moved) {
    Member member;
    member.role =
        unsignedAttribute(die, DW_AT_virtuality).value_or(DW_VIRTUALITY_none) == DW_VIRTUALITY_virtual
            ? Member::Role::virtualBase
            : Member::Role::base;
    readType(die, member);
    if (member.type == kNoType) return;
    const MemberPlace place = placeOf(die);
    member.located = place.offset.has_value() && member.role == Member::Role::base;
    if (member.located) member.offset = *place.offset + moved;
    if (type_.size && member.offset > *type_.size) return;
    common(die, member);
    type_.members.push_back(std::move(member));
  }

  void readType(Dwarf_Die& die, Member& member) {
    member.type = typeIn(die, DW_AT_type, source_);
    const auto size = source_.sizeOf(member.type);
    member.size = size.value_or(0);
    member.incomplete = !size && source_.isIncomplete(member.type);
  }

  void common(Dwarf_Die& die, Member& member) {
    const uint64_t alignment = unsignedAttribute(die, DW_AT_alignment).value_or(0);
    if (alignment <= UINT32_MAX) member.alignment = static_cast<uint32_t>(alignment);
    const uint64_t line = unsignedAttribute(die, DW_AT_decl_line).value_or(0);
    if (line <= UINT32_MAX) member.line = static_cast<uint32_t>(line);
    // `#include` inside of a structure.
    const auto file = unsignedAttribute(die, DW_AT_decl_file);
    if (file && file != unsignedAttribute(die_, DW_AT_decl_file)) member.file = source_.fileOf(die);
  }

  /// Rust's enums: a discriminant, and for each variant a structure that begins where the enum does. Its
  /// fields become members of the enum.
  void addVariants(Dwarf_Die part) {
    const auto discriminant = referenceAttribute(part, DW_AT_discr);
    forEachChild(part, [&](Dwarf_Die& child) {
      if (dwarf_tag(&child) == DW_TAG_member && discriminant && child.addr == discriminant->addr) {
        if (Member* member = add(child, 0, {})) {
          member->role = Member::Role::discriminant;
          if (member->name.empty()) member->name = "discriminant";
        }
      } else if (dwarf_tag(&child) == DW_TAG_variant) {
        addVariant(child);
      }
      return type_.members.size() < kMostChildren;
    });
  }

  void addVariant(Dwarf_Die variant) {
    forEachChild(variant, [&](Dwarf_Die& child) {
      if (dwarf_tag(&child) != DW_TAG_member) return true;
      const char* name = stringAttribute(child, DW_AT_name);
      auto structure = referenceAttribute(child, DW_AT_type);
      const uint64_t offset = placeOf(child).offset.value_or(0);
      if (name != nullptr && structure && dwarf_tag(&*structure) == DW_TAG_structure_type) {
        // The states of an async function have numbers, and types that are called `Suspend0`.
        const char* typeName = stringAttribute(*structure, DW_AT_name);
        const bool isNumber = std::isdigit(static_cast<unsigned char>(*name)) != 0;
        children(*structure, offset, isNumber && typeName != nullptr ? typeName : name);
      }
      return type_.members.size() < kMostChildren;
    });
  }

  std::string memberName(std::string_view name) const {
    // Clang writes `_vptr$Worker`, GCC `_vptr.Worker`.
    if (name.starts_with("_vptr.") || name.starts_with("_vptr$")) return "_vptr";
    // Rust's tuples: the source says `pair.0`.
    if (rust_ && name.size() > 2 && name.starts_with("__") &&
        std::all_of(name.begin() + 2, name.end(),
                    [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }))
      return std::string(name.substr(2));
    return std::string(name);
  }

  Dwarf_Die die_;
  const TypeSource& source_;
  Type& type_;
  bool rust_;
};

void readDimensions(Dwarf_Die array, Type& type) {
  forEachChild(array, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_subrange_type) {
      type.dimensions.push_back(symbols::dimensionLength(child));
    } else if (tag == DW_TAG_enumeration_type) {
      type.dimensions.push_back(std::nullopt);
    }
    return type.dimensions.size() < kMostDimensions;
  });
  if (type.dimensions.empty()) type.dimensions.push_back(std::nullopt);
}

}  // namespace

std::optional<Kind> kindOf(int tag) {
  switch (tag) {
    case DW_TAG_base_type:
    case DW_TAG_subrange_type:
    case DW_TAG_string_type:
      return Kind::base;
    case DW_TAG_pointer_type:
      return Kind::pointer;
    case DW_TAG_reference_type:
      return Kind::reference;
    case DW_TAG_rvalue_reference_type:
      return Kind::rvalueReference;
    case DW_TAG_ptr_to_member_type:
      return Kind::memberPointer;
    case DW_TAG_structure_type:
      return Kind::structure;
    case DW_TAG_class_type:
    case DW_TAG_interface_type:
      return Kind::classType;
    case DW_TAG_union_type:
      return Kind::unionType;
    case DW_TAG_enumeration_type:
      return Kind::enumeration;
    case DW_TAG_array_type:
      return Kind::array;
    case DW_TAG_subroutine_type:
      return Kind::function;
    case DW_TAG_typedef:
    case DW_TAG_template_alias:
      return Kind::typedefOf;
    case DW_TAG_const_type:
    case DW_TAG_immutable_type:
      return Kind::constOf;
    case DW_TAG_volatile_type:
      return Kind::volatileOf;
    case DW_TAG_restrict_type:
      return Kind::restrictOf;
    case DW_TAG_atomic_type:
      return Kind::atomicOf;
    case DW_TAG_unspecified_type:
      return Kind::unspecified;
    default:
      return std::nullopt;
  }
}

bool isAggregate(Kind kind) {
  return kind == Kind::structure || kind == Kind::classType || kind == Kind::unionType;
}

bool flagAttribute(Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  bool flag = false;
  return dwarf_attr(&die, name, &attribute) != nullptr && dwarf_formflag(&attribute, &flag) == 0 && flag;
}

std::optional<uint64_t> statedSize(Dwarf_Die& die) {
  const auto size = unsignedAttribute(die, DW_AT_byte_size);
  return size && *size <= kLargestType ? size : std::nullopt;
}

void readHead(Dwarf_Die die, const TypeSource& source, Type& type) {
  type.kind = kindOf(dwarf_tag(&die)).value_or(Kind::unspecified);
  type.size = statedSize(die);
  const uint64_t alignment = unsignedAttribute(die, DW_AT_alignment).value_or(0);
  if (alignment <= UINT32_MAX) type.alignment = static_cast<uint32_t>(alignment);
  type.alignmentIsExact = type.alignment != 0 && isAggregate(type.kind) && statesWholeAlignment(die);
  type.target = typeIn(die, DW_AT_type, source);
  type.declaration = flagAttribute(die, DW_AT_declaration);
  // A declared enumeration has the size of the type that its source states.
  if (type.declaration && type.kind != Kind::enumeration) type.size.reset();
  switch (type.kind) {
    case Kind::array:
      readDimensions(die, type);
      type.vector = flagAttribute(die, DW_AT_GNU_vector);
      break;
    case Kind::base: {
      // Of complex integers gcc and clang say the first encoding that is free for use.
      const auto encoding = unsignedAttribute(die, DW_AT_encoding);
      type.complexNumber = encoding == DW_ATE_complex_float || encoding == DW_ATE_lo_user;
      break;
    }
    case Kind::pointer:
    case Kind::reference:
    case Kind::rvalueReference:
      if (!type.size && addressSizeOf(die) != 0) type.size = addressSizeOf(die);
      break;
    case Kind::memberPointer: {
      // Itanium C++ ABI 2.3: a ptrdiff_t; to a function two of them.
      auto target = referenceAttribute(die, DW_AT_type);
      if (!type.size && target)
        type.size = addressSizeOf(die) * (dwarf_tag(&*target) == DW_TAG_subroutine_type ? 2u : 1u);
      type.owner = typeIn(die, DW_AT_containing_type, source);
      break;
    }
    case Kind::unspecified:
      // std::nullptr_t is the only one that objects can have.
      if (const char* name = stringAttribute(die, DW_AT_name);
          name != nullptr && std::string_view(name) == "decltype(nullptr)")
        type.size = addressSizeOf(die);
      break;
    default:
      break;
  }
}

void readMembers(Dwarf_Die die, const TypeSource& source, Type& type) {
  MemberReader(die, source, type).read();
}

void readParameters(Dwarf_Die die, const TypeSource& source, Type& type) {
  constexpr size_t kMostParameters = 256;
  forEachChild(die, [&](Dwarf_Die& child) {
    const int tag = dwarf_tag(&child);
    if (tag == DW_TAG_formal_parameter) {
      const TypeId id = typeIn(child, DW_AT_type, source);
      if (flagAttribute(child, DW_AT_artificial))
        type.owner = id;
      else
        type.parameters.push_back(id);
    }
    type.variadic |= tag == DW_TAG_unspecified_parameters;
    return type.parameters.size() < kMostParameters;
  });
}

}  // namespace cacheline::types
