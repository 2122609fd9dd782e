// The variables and parameters of one function with code, and of everything inlined into it.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "inference/location.h"
#include "symbols/dwarf_index.h"
#include "types/type_table.h"

namespace cacheline::inference {

struct CodeRange {
  uint64_t low = 0, high = 0;  ///< ELF addresses, [low, high)
  bool contains(uint64_t address) const { return address >= low && address < high; }
};

/// The function, a place where another was inlined, or a block of either.
struct CodeScope {
  static constexpr uint32_t kNone = ~0u;
  uint32_t parent = kNone;
  std::vector<CodeRange> ranges;  ///< empty: as far as its parent reaches
  uint32_t inlines = 0;           ///< how many inlined functions deep
  Dwarf_Die function{};           ///< whose variables are in it
};

struct ScopedVariable {
  Dwarf_Die die{};
  uint32_t scope = 0;  ///< index into FunctionScopes::scopes
  types::TypeId type = types::kNoType;
  std::vector<LocationRange> locations;
};

struct FunctionScopes {
  Dwarf_Die die{};
  std::vector<CodeRange> ranges;  ///< of its code
  std::vector<CodeScope> scopes;  ///< [0]: the function
  std::vector<ScopedVariable> variables;
  /// What the function's own pointer variables point to that are nowhere: optimised out.
  std::vector<types::TypeId> lost;
  /// The functions called, where DWARF says which: by the address behind the call, ascending.
  std::vector<std::pair<uint64_t, Dwarf_Die>> calls;

  /// The scope and all around it reach over the address.
  bool inScope(uint32_t scope, uint64_t address) const;
  /// How many inlined functions deep the innermost code at the address is.
  uint32_t inlinesAt(uint64_t address) const;
};

/// DW_AT_name of a variable or what completes it; empty where it has none. Names cost, and few are asked for.
std::string nameOf(const ScopedVariable& variable);

/// Reads the function whose code is at an ELF address; null parts where DWARF does not know it: then `die`
/// has no address.
FunctionScopes readFunction(symbols::DwarfIndex& dwarf, types::TypeTable& types, uint64_t address);

}  // namespace cacheline::inference
