// The variables with static storage of one file's DWARF, by address.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/dwarf_names.h"
#include "symbols/dwarf_units.h"
#include "symbols/elf_format.h"
#include "symbols/elf_image.h"
#include "symbols/interval_map.h"

namespace cacheline::symbols {

struct StaticVariable {
  uint64_t address = 0, size = 0;  ///< bytes
  Dwarf_Die die{};
};

class VariableIndex {
 public:
  /// Reads the DIEs of all units once. `data`: the sections variables can be in; what lies outside was
  /// dropped by the linker. Included: DW_OP_addr and DW_OP_addrx, alone or with a constant added.
  /// `format`: of the file, whose addresses it describes. `image`: whose
  /// symbols say what the types leave open. Data symbols that no definition describes have their declaration:
  /// the dynamic linker copies them from a library (R_*_COPY), or their unit has no debug information.
  VariableIndex(const Units& units, const IntervalMap& data, const ElfFormat& format, const ElfImage& image,
                Names& names);
  const StaticVariable* at(uint64_t address) const;
  /// Of the thread-local ones, whose `address` is an offset in the file's thread-local block.
  const StaticVariable* threadLocalAt(uint64_t offset) const;
  /// By its name, as Names say it; null also where there are several.
  const StaticVariable* threadLocalNamed(const std::string& name, Names& names);

 private:
  void addDeclared(const std::vector<Dwarf_Die>& declarations, const ElfImage& image, Names& names);

  std::vector<StaticVariable> variables_, threadLocals_;
  IntervalMap map_, threadLocalMap_;
  std::optional<std::unordered_map<std::string, const StaticVariable*>> threadLocalNames_;  ///< once asked
};

}  // namespace cacheline::symbols
