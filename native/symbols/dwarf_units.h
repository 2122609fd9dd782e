// The compilation units of one file's DWARF: which unit owns an address, and each unit's own indexes, made on
// first use.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/die_scan.h"
#include "symbols/file_table.h"
#include "symbols/inline_tree.h"
#include "symbols/interval_map.h"
#include "symbols/language.h"
#include "symbols/line_table.h"
#include "symbols/split_units.h"

namespace cacheline::symbols {

/// The parts of one unit. With split DWARF, `die` is the skeleton in the binary and `root` the unit in the
/// .dwo file.
class Unit {
 public:
  Unit(Dwarf_Die die, Dwarf_Die root, const IntervalMap& code, std::shared_ptr<SharedInlineTree> tree);
  const LineTable& lines();
  FileTable& files();
  const InlineTree& functions();
  /// The scopes of the part that a DIE is in, where functions() was asked; else null.
  const ScopeTree* knownScopes(const Dwarf_Die& die) const {
    return functions_ && die.cu == root_.cu ? &functions_->scopes() : nullptr;
  }
  DieScan& scan();
  /// The DIE at an offset of this unit's own .debug_info.
  Dwarf_Die dieAt(Dwarf_Off offset) const;

 private:
  Dwarf_Die die_, root_;
  const IntervalMap& code_;
  std::string compilationDir_;
  std::optional<LineTable> lines_;
  std::optional<FileTable> files_;
  std::optional<DieScan> scan_;
  const std::shared_ptr<SharedInlineTree> tree_;
  const InlineTree* functions_ = nullptr;  ///< set once it was asked for
};

class Units {
 public:
  /// `code`: the executable sections; all must outlive this.
  Units(Dwarf* dwarf, const IntervalMap& code, InlineTrees& trees, SplitUnits& splits);
  /// The unit whose ranges cover the address; where several do (copies of an inline function), the tightest.
  Unit* at(uint64_t address);
  /// The unit that owns a DIE; null where libdw cannot say.
  Unit* of(const Dwarf_Die& die);
  /// The same, but null where nothing of it has been asked yet.
  Unit* known(const Dwarf_Die& die) const;
  /// The root DIEs of all compile units, those in .dwo files included, and the partial units.
  std::vector<Dwarf_Die> roots() const;
  /// Languages of which no unit describes a type. None where types may lie elsewhere: in .dwo files, or where
  /// dwz moved them.
  std::vector<Language> languagesWithoutTypes() const;

 private:
  Unit* load(Dwarf_CU* cu);
  const IntervalMap& code_;
  InlineTrees& trees_;
  SplitUnits& splits_;
  std::vector<Dwarf_CU*> compileUnits_;
  std::unordered_map<Dwarf_CU*, uint32_t> numbers_;  ///< of compileUnits_
  std::vector<Dwarf_CU*> partialUnits_;
  IntervalMap map_;  ///< address to index in compileUnits_
  std::vector<std::unique_ptr<Unit>> owned_;
  std::unordered_map<Dwarf_CU*, Unit*> byCu_;
};

}  // namespace cacheline::symbols
