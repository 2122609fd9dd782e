// Members, holes and lines of a type. Holes agree with pahole's: behind a bit-field the rest of its storage
// unit, up to the next member, is a hole of bits.
#include "layouts/layout.h"

#include <algorithm>

#include "layouts/natural_alignment.h"
#include "types/member_places.h"
#include "types/named_members.h"
#include "types/type_reader.h"

namespace cacheline::layouts {

using types::Member;
using types::Type;
using types::TypeId;
using types::TypeTable;

namespace {

constexpr uint32_t kDeepestExpansion = 32;
constexpr size_t kMostRows = 1 << 17;

bool isRustEnum(const Type& type) {
  return std::any_of(type.members.begin(), type.members.end(),
                     [](const Member& member) { return !member.variant.empty(); });
}

/// Finds what lies between the members of one structure.
class HoleFinder {
 public:
  /// `elements`: Hole::elements of what is found.
  HoleFinder(const Type& type, uint64_t base, std::optional<uint64_t> elements, std::vector<Hole>& holes)
      : type_(type), base_(base), elements_(elements), holes_(holes) {}

  /// The bytes behind the last member. `open`: these may be somebody's.
  uint64_t find(bool open) {
    for (const Member& member : type_.members) {
      if (!member.located) continue;
      if (member.bitSize != 0)
        bits(member);
      else
        bytes(member);
    }
    const uint64_t end = type_.size.value_or(0) * 8;
    closeUnit(open ? (end_ + 7) / 8 * 8 : end);
    return end > end_ ? (end - end_) / 8 : 0;
  }

 private:
  /// The rest of the open storage unit, as far as nothing else is there.
  void closeUnit(uint64_t next) {
    const uint64_t end = std::min(unitEnd_, next);
    if (end > end_) {
      hole(end_, end);
      end_ = end;
    }
    unitEnd_ = unitSize_ = 0;
  }

  void bytes(const Member& member) {
    const uint64_t start = member.offset * 8;
    closeUnit(start);
    // A byte that a bit-field has begun ends before a whole member.
    if (start > end_) hole(end_, start);
    end_ = std::max(end_, start + member.size * 8);
  }

  void bits(const Member& member) {
    const uint64_t unit = member.offset * 8, start = unit + member.bitOffset, size = member.size * 8;
    if (start >= unitEnd_) closeUnit(start);
    if (end_ < unit && unit <= start) {
      hole(end_, unit);
      end_ = unit;
    }
    const uint64_t end = std::max(end_, start + member.bitSize);
    if (end > unitEnd_ || size > unitSize_) {
      unitSize_ = size;
      unitEnd_ = unit + size;
      if (end > unitEnd_) unitEnd_ += size;
    }
    if (start > end_) hole(end_, start);
    end_ = end;
  }

  /// [from, to) in bits: the bits up to the next byte, and whole bytes.
  void hole(uint64_t from, uint64_t to) {
    const uint64_t whole = inUnit(from, to) ? to : std::min(to, (from + 7) / 8 * 8);
    if (whole > from) {
      // An unnamed bit-field may reach from one unit into the next.
      if (from == bitHoleEnd_ && from > 0)
        holes_.back().bits += static_cast<uint32_t>(whole - from);
      else
        holes_.push_back({base_ + from / 8, 0, static_cast<uint32_t>(whole - from), elements_});
      bitHoleEnd_ = whole;
    }
    if (to > whole) holes_.push_back({base_ + whole / 8, (to - whole) / 8, 0, elements_});
  }
  /// Inside of an open storage unit everything is bits.
  bool inUnit(uint64_t from, uint64_t to) const { return unitEnd_ > from && to <= unitEnd_; }

  const Type& type_;
  uint64_t base_;
  std::optional<uint64_t> elements_;
  std::vector<Hole>& holes_;
  uint64_t end_ = 0;                     ///< bit behind what is used
  uint64_t bitHoleEnd_ = 0;              ///< bit behind the last hole of bits
  uint64_t unitEnd_ = 0, unitSize_ = 0;  ///< of the storage unit that bit-fields fill, in bits
};

/// What lies in a member: its type through typedefs, arrays and the wrappers of standard libraries.
struct Inner {
  TypeId type = types::kNoType;
  uint64_t offset = 0;               ///< of it, or of the first element
  std::string indexes;               ///< "[0..7]" for each array
  std::optional<uint64_t> elements;  ///< LayoutMember::elements
};

class LayoutMaker {
 public:
  LayoutMaker(const TypeTable& table, const LayoutOptions& options) : table_(table), options_(options) {}

  Layout make(TypeId asked) {
    const TypeId stripped = table_.strip(asked);
    const Type& type = table_[stripped];
    layout_.name = table_.nameOf(asked);
    layout_.kind = isRustEnum(type) ? "enum" : types::kindName(type.kind);
    layout_.size = type.size.value_or(0);
    layout_.lineSize = std::max<uint64_t>(options_.lineSize, 1);
    layout_.lines = layout_.size / layout_.lineSize + (layout_.size % layout_.lineSize != 0 ? 1 : 0);
    layout_.file = type.file;
    layout_.line = type.line;
    layout_.align = alignmentOf(table_, stripped);
    layout_.padding = holes(type, {stripped, 0, {}, {}});
    if (options_.expand)
      expand({stripped, 0, {}, {}}, {}, 0);
    else
      addOwn({stripped, 0, {}, {}}, {}, 0);
    std::erase_if(layout_.holes, [this](const Hole& hole) {
      return std::any_of(layout_.unplaced.begin(), layout_.unplaced.end(), [&](const Unplaced& open) {
        return hole.offset >= open.offset && hole.offset < open.offset + open.size;
      });
    });
    std::stable_sort(layout_.holes.begin(), layout_.holes.end(), [](const Hole& a, const Hole& b) {
      return a.offset != b.offset ? a.offset < b.offset : a.size < b.size;
    });
    return std::move(layout_);
  }

 private:
  /// Holes of one level; where members lie on each other there are none. Returns the padding.
  uint64_t holes(const Type& type, const Inner& place) {
    const uint64_t base = place.offset;
    if (type.kind == types::Kind::unionType || isRustEnum(type)) {
      uint64_t end = 0;
      for (const Member& member : type.members) end = std::max(end, member.offset + member.size);
      return type.size.value_or(0) > end ? *type.size - end : 0;
    }
    std::vector<std::string> unplaced = unplacedBases(type);
    const uint64_t rest = HoleFinder(type, base, place.elements, layout_.holes).find(!unplaced.empty());
    // A base that is not known may have virtual ones; less than a pointer is the padding of scalars.
    if (unplaced.empty() && type.basesUnknown && rest >= table_.target().pointer)
      unplaced.push_back(types::kUnreadName);
    if (unplaced.empty()) return rest;
    // Those may lie in the last member's tail padding, too.
    const uint64_t size = type.size.value_or(0), from = std::min(size - rest, types::dataEnd(table_, type));
    if (from < size) layout_.unplaced.push_back({base + from, size - from, std::move(unplaced)});
    return 0;
  }

  /// The virtual bases: where they lie is not known.
  std::vector<std::string> unplacedBases(const Type& type) const {
    std::vector<std::string> names;
    for (const TypeId base : type.virtualBases)
      names.push_back(table_.nameOf(base != types::kNoType ? base : types::kUnreadType));
    return names;
  }

  void add(const Member& member, const std::string& name, uint64_t offset, uint32_t depth, const Type& owner,
           std::optional<uint64_t> elements) {
    LayoutMember row;
    row.name = name;
    row.type = table_.nameOf(member.type);
    row.offset = offset;
    row.size = member.size;
    row.bitOffset = member.bitOffset;
    row.bitSize = member.bitSize;
    // rustc and some sources state what the type has anyway.
    if (member.alignment != 0 && member.alignment != alignmentOf(table_, member.type))
      row.alignment = member.alignment;
    row.role = member.role;
    row.incomplete = member.incomplete;
    row.variant = member.variant;
    row.depth = depth;
    row.elements = elements;
    if (member.role == Member::Role::discriminant) row.niche = nicheOf(member, owner);
    row.line = member.line;
    const std::string& file = member.file.empty() ? owner.file : member.file;
    if (file != layout_.file) row.file = file;
    const uint64_t line = layout_.lineSize, last = member.size == 0 ? 0 : member.size - 1;
    row.straddles = (offset % line + last) / line > last / line;
    if (!options_.expand) row.structure = structureOf(member.type);
    layout_.members.push_back(std::move(row));
  }

  std::string structureOf(TypeId of) const {
    TypeId type = table_.strip(of);
    for (uint32_t level = 0; level < kDeepestExpansion && table_[type].kind == types::Kind::array; ++level)
      type = table_.strip(table_[type].target);
    return types::isAggregate(table_[type].kind) ? table_.nameOf(type) : std::string();
  }

  /// The variant with a value in the bytes of the discriminant; empty: it has them for itself.
  static std::string nicheOf(const Member& discriminant, const Type& owner) {
    const uint64_t end = discriminant.offset + discriminant.size;
    for (const Member& member : owner.members)
      if (!member.variant.empty() && member.located && member.offset < end &&
          discriminant.offset < member.offset + member.size)
        return member.variant;
    return {};
  }

  bool isFull() {
    if (layout_.members.size() < kMostRows) return false;
    layout_.cutMembers = layout_.members.size();
    return true;
  }

  /// The members as the type has them, and those of what has no name where they are wanted.
  void addOwn(const Inner& place, const std::string& path, uint32_t depth) {
    const Type& type = table_[place.type];
    for (const Member& member : type.members) {
      if (!member.located) continue;
      const std::string name = path.empty() || member.name.empty() ? member.name : path + "." + member.name;
      const uint64_t offset = place.offset + member.offset;
      if (depth > 0 && isFull()) return;
      add(member, name, offset, depth, type, place.elements);
      if (!options_.openUnnamed || member.role != Member::Role::field) continue;
      const Inner inner = innerOf(member, offset, place.elements, false);
      if (!table_[inner.type].name.empty() || !open(inner, depth)) continue;
      addOwn(inner, (member.name.empty() ? path : name) + inner.indexes, depth + 1);
    }
  }

  void expand(const Inner& place, const std::string& path, uint32_t depth) {
    for (const types::NamedMember& named : types::namedMembers(table_, place.type)) {
      if (isFull()) return;
      const std::string name = path.empty() ? named.name : path + "." + named.name;
      const uint64_t offset = place.offset + named.offset;
      add(named.member, name, offset, depth, table_[named.owner], place.elements);
      const Inner inner = innerOf(named.member, offset, place.elements, true);
      if (inner.elements && !options_.elements) continue;
      if (open(inner, depth)) expand(inner, name + inner.indexes, depth + 1);
    }
  }

  /// Whether it has members to be shown; its holes then are. Above the deepest ones it is said that it has.
  bool open(const Inner& inner, uint32_t depth) {
    const Type& type = table_[inner.type];
    if (!types::isAggregate(type.kind)) return false;
    if (depth >= kDeepestExpansion) {
      if (!type.members.empty()) layout_.cutDepth = kDeepestExpansion;
      return false;
    }
    // Behind the end of the type there is nothing to be lost.
    if (inner.elements == 0) return true;
    const uint64_t padding = holes(type, inner);
    if (padding != 0 && type.size)
      layout_.holes.push_back({inner.offset + *type.size - padding, padding, 0, inner.elements});
    return true;
  }

  Inner innerOf(const Member& member, uint64_t offset, std::optional<uint64_t> elements,
                bool throughWrappers) const {
    Inner inner{table_.strip(member.type), offset, {}, elements};
    for (uint32_t level = 0; level < kDeepestExpansion; level++) {
      const Type& type = table_[inner.type];
      if (type.kind == types::Kind::array) {
        for (const auto& length : type.dimensions) addIndex(inner, length.value_or(0));
        inner.type = table_.strip(type.target);
      } else if (const auto only = throughWrappers ? types::wrapped(table_, inner.type) : std::nullopt) {
        inner.type = table_.strip(only->member.type);
        inner.offset += only->offset;
      } else {
        break;
      }
    }
    return inner;
  }

  static void addIndex(Inner& inner, uint64_t length) {
    inner.indexes += "[0.." + (length > 0 ? std::to_string(length - 1) : "") + "]";
    uint64_t elements = 0;
    if (__builtin_mul_overflow(inner.elements.value_or(1), length, &elements)) elements = UINT64_MAX;
    inner.elements = elements;
  }

  const TypeTable& table_;
  const LayoutOptions& options_;
  Layout layout_;
};

}  // namespace

Layout layoutOf(const TypeTable& table, TypeId type, const LayoutOptions& options) {
  return LayoutMaker(table, options).make(type);
}

}  // namespace cacheline::layouts
