// How a type lies on cache lines: what `cacheline layout` prints and the hover draws.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "symbols/split_files.h"
#include "types/type_table.h"

namespace cacheline::layouts {

struct LayoutMember {
  std::string name;  ///< with `expand`: the full path, `today.cents`
  std::string type;
  uint64_t offset = 0, size = 0;
  uint32_t bitOffset = 0, bitSize = 0;
  uint32_t alignment = 0;  ///< bytes, where the source asks for another than the type's (`alignas`); else 0
  types::Member::Role role = types::Member::Role::field;
  std::string variant;
  bool incomplete = false;  ///< Member::incomplete
  bool straddles = false;   ///< lies on more lines than its size needs
  uint32_t depth = 0;       ///< how many members it is inside of
  /// Of a member of an array's element: how many such elements there are, in all arrays around it. The row is
  /// that of the first one. 0: of an flexible array member.
  std::optional<uint64_t> elements;
  /// Of a discriminant that has no bytes of its own: the variant whose values it shares them with.
  std::string niche;
  /// Without LayoutOptions::expand: the name of the structure that it is, or an element of it; empty: none.
  std::string structure;
  uint32_t line = 0;  ///< of the source; 0: unknown
  std::string file;   ///< empty: the layout's
};
struct Hole {
  uint64_t offset = 0, size = 0;          ///< bytes
  uint32_t bits = 0;                      ///< of a bit hole, whose size is 0
  std::optional<uint64_t> elements = {};  ///< as LayoutMember::elements
};
/// Bytes that may be of these virtual bases.
struct Unplaced {
  uint64_t offset = 0, size = 0;
  std::vector<std::string> bases;
};
struct Layout {
  std::string name, kind;  ///< kind: struct, class, union, enum
  uint64_t size = 0, lineSize = 64, lines = 0;
  std::optional<uint64_t> align;  ///< none where the debug information does not tell
  std::vector<LayoutMember> members;
  std::vector<Hole> holes;
  std::vector<Unplaced> unplaced;  ///< nothing in them counts as a hole or padding
  uint64_t padding = 0;            ///< bytes behind the last member
  /// Where a limit left members out: behind how many, and what is inside of more than how many; else 0.
  uint64_t cutMembers = 0, cutDepth = 0;
  std::string file;
  uint32_t line = 0;
  /// Structures inside by which it differs from a duplicate whose layout is the same.
  std::vector<std::string> differsIn;
  /// What was not read of the debug information, where a member's type may be in that.
  std::optional<symbols::SplitProblem> missing;
};

struct LayoutOptions {
  uint64_t lineSize = 64;
  bool expand = false;
  bool elements = true;  ///< with `expand`: of arrays' elements, too
  /// Without `expand`: show members of what has no name to ask for, also of arrays of it.
  bool openUnnamed = false;
};

/// `type`: complete, a structure, class or union (stripped).
Layout layoutOf(const types::TypeTable& table, types::TypeId type, const LayoutOptions& options);
/// "field", "base", "virtual base", "vtable pointer", "discriminant".
const char* roleName(types::Member::Role role);
/// The object of docs/outputs.md, as JSON text.
std::string layoutJson(const Layout& layout);

}  // namespace cacheline::layouts
