// Every structure, class and union of one file's DWARF by name and by place in the source; and its variables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbols/dwarf_index.h"
#include "symbols/split_files.h"
#include "types/die_reference.h"
#include "types/type.h"

namespace cacheline::layouts {

struct IndexedType {
  std::string name;   ///< with scopes; of an anonymous structure its typedef's
  uint32_t file = 0;  ///< index into TypeIndex::files
  uint32_t line = 0;
  types::Kind kind = types::Kind::structure;
  bool variants = false;    ///< an enum of Rust
  uint64_t size = 0;        ///< bytes
  uint64_t hash = 0;        ///< of its members: repetitions of one definition in many units are one entry
  types::DieReference die;  ///< the structure, or the typedef of an anonymous one
};

/// A variable outside of functions.
struct IndexedVariable {
  uint32_t file = 0, line = 0;
  types::DieReference die;
};

/// A compile unit and the source file it was made from.
struct IndexedUnit {
  uint32_t file = 0;
  types::DieReference die;
};

struct TypeIndex {
  std::vector<std::string> files;     ///< [0] is empty: unknown
  std::vector<IndexedType> types;     ///< by name
  std::vector<std::string> declared;  ///< ascending: names that are declared and defined nowhere
  std::vector<IndexedVariable> variables;
  std::vector<IndexedUnit> units;
  /// The .dwo files, and dwz's common file, of which not all is read; such an index is not kept.
  std::vector<symbols::MissingSplit> missing;

  /// The entries with exactly this name: [first, last) of `types`.
  std::pair<size_t, size_t> withName(std::string_view name) const;
};

/// Reads all units once, with a scan of the raw DIEs.
TypeIndex buildTypeIndex(symbols::DwarfIndex& file);

}  // namespace cacheline::layouts
