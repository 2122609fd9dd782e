// Members, holes and lines of a type. Holes agree with pahole's: behind a bit-field the rest of its storage
// unit, up to the next member, is a hole of bits.
#include "types/layout.h"

#include <algorithm>

#include "types/named_members.h"
#include "types/natural_alignment.h"
#include "types/type_reader.h"
#include "types/virtual_bases.h"

namespace cacheline::types {
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
  HoleFinder(const Type& type, uint64_t base, std::vector<Hole>& holes)
      : type_(type), base_(base), holes_(holes) {}

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
        holes_.push_back({base_ + from / 8, 0, static_cast<uint32_t>(whole - from)});
      bitHoleEnd_ = whole;
    }
    if (to > whole) holes_.push_back({base_ + whole / 8, (to - whole) / 8, 0});
  }
  /// Inside of an open storage unit everything is bits.
  bool inUnit(uint64_t from, uint64_t to) const { return unitEnd_ > from && to <= unitEnd_; }

  const Type& type_;
  uint64_t base_;
  std::vector<Hole>& holes_;
  uint64_t end_ = 0;                     ///< bit behind what is used
  uint64_t bitHoleEnd_ = 0;              ///< bit behind the last hole of bits
  uint64_t unitEnd_ = 0, unitSize_ = 0;  ///< of the storage unit that bit-fields fill, in bits
};

class LayoutMaker {
 public:
  LayoutMaker(const TypeTable& table, const LayoutOptions& options) : table_(table), options_(options) {}

  Layout make(TypeId asked) {
    const TypeId stripped = table_.strip(asked);
    const Type& type = table_[stripped];
    layout_.name = table_.nameOf(asked);
    layout_.kind = isRustEnum(type) ? "enum" : kindName(type.kind);
    layout_.size = type.size.value_or(0);
    layout_.lineSize = std::max<uint64_t>(options_.lineSize, 1);
    layout_.lines = layout_.size / layout_.lineSize + (layout_.size % layout_.lineSize != 0 ? 1 : 0);
    layout_.file = type.file;
    layout_.line = type.line;
    const Alignment alignment = alignmentOf(table_, stripped);
    layout_.align = alignment.bytes;
    layout_.alignIsLeast = alignment.isLeast;
    layout_.padding = holes(type, 0);
    if (options_.expand)
      expand(stripped, 0, {}, 0);
    else
      for (const Member& member : type.members)
        if (member.located) add(member, member.name, member.offset, 0, type);
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
  uint64_t holes(const Type& type, uint64_t base) {
    if (type.kind == Kind::unionType || isRustEnum(type)) {
      uint64_t end = 0;
      for (const Member& member : type.members) end = std::max(end, member.offset + member.size);
      return type.size.value_or(0) > end ? *type.size - end : 0;
    }
    std::vector<std::string> unplaced = unplacedBases(type);
    const uint64_t rest = HoleFinder(type, base, layout_.holes).find(!unplaced.empty());
    // A base that is not known may have virtual ones; less than a pointer is the padding of scalars.
    if (unplaced.empty() && type.basesUnknown && rest >= table_.target().pointer)
      unplaced.push_back(kUnreadName);
    if (unplaced.empty()) return rest;
    // They may lie in the last member's tail padding, too.
    const uint64_t size = type.size.value_or(0), from = std::min(size - rest, leastDataEnd(table_, type));
    if (from < size) layout_.unplaced.push_back({base + from, size - from, std::move(unplaced)});
    return 0;
  }

  /// The virtual bases whose places are not known.
  std::vector<std::string> unplacedBases(const Type& type) const {
    std::vector<std::string> names;
    for (const TypeId base : type.virtualBases) {
      const bool located = std::any_of(type.members.begin(), type.members.end(), [&](const Member& member) {
        return member.role == Member::Role::virtualBase && member.located &&
               table_.strip(member.type) == base;
      });
      if (!located) names.push_back(table_.nameOf(base != kNoType ? base : kUnreadType));
    }
    return names;
  }

  void add(const Member& member, const std::string& name, uint64_t offset, uint32_t depth,
           const Type& owner) {
    LayoutMember row;
    row.name = name;
    row.type = table_.nameOf(member.type);
    row.offset = offset;
    row.size = member.size;
    row.bitOffset = member.bitOffset;
    row.bitSize = member.bitSize;
    // rustc and some sources state what the type has anyway.
    if (member.alignment != 0 && member.alignment != naturalAlignment(table_, member.type))
      row.alignment = member.alignment;
    row.role = member.role;
    row.incomplete = member.incomplete;
    row.variant = member.variant;
    row.depth = depth;
    row.line = member.line;
    const std::string& file = member.file.empty() ? owner.file : member.file;
    if (file != layout_.file) row.file = file;
    const uint64_t line = layout_.lineSize, last = member.size == 0 ? 0 : member.size - 1;
    row.straddles = (offset % line + last) / line > last / line;
    layout_.members.push_back(std::move(row));
  }

  void expand(TypeId type, uint64_t base, const std::string& path, uint32_t depth) {
    for (const NamedMember& named : namedMembers(table_, type)) {
      if (layout_.members.size() >= kMostRows) return;
      const std::string name = path.empty() ? named.name : path + "." + named.name;
      const uint64_t offset = base + named.offset;
      add(named.member, name, offset, depth, table_[named.owner]);
      if (depth >= kDeepestExpansion) continue;
      TypeId inner = table_.strip(named.member.type);
      uint64_t at = offset;
      for (uint32_t level = 0; level < kDeepestExpansion; level++) {
        const auto only = wrapped(table_, inner);
        if (!only) break;
        inner = table_.strip(only->member.type);
        at += only->offset;
      }
      if (!isAggregate(table_[inner].kind)) continue;
      const uint64_t padding = holes(table_[inner], at);
      if (padding != 0 && table_[inner].size)
        layout_.holes.push_back({at + *table_[inner].size - padding, padding, 0});
      expand(inner, at, name, depth + 1);
    }
  }

  const TypeTable& table_;
  const LayoutOptions& options_;
  Layout layout_;
};

}  // namespace

Layout layoutOf(const TypeTable& table, TypeId type, const LayoutOptions& options) {
  return LayoutMaker(table, options).make(type);
}

}  // namespace cacheline::types
