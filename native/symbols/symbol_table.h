// The functions and the data objects of one ELF symbol table, by address.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "symbols/elf_file.h"
#include "symbols/elf_image.h"
#include "symbols/interval_map.h"

namespace cacheline::symbols {

/// Functions are STT_FUNC, STT_GNU_IFUNC and named STT_NOTYPE in executable sections; data are STT_OBJECT and
/// STT_COMMON. Thread-local symbols are neither: their value is an offset, not an address.
/// Where several cover an address: sized before unsized, then the largest (the outermost), then global before
/// weak before local, then a typed one before a bare label. A symbol never reaches out of its section.
class SymbolTable {
 public:
  SymbolTable() = default;
  /// `type` is SHT_SYMTAB or SHT_DYNSYM. The names point into `file.bytes`.
  SymbolTable(const ElfFile& file, uint32_t type);

  const Symbol* functionAt(uint64_t address) const { return functions_.at(address); }
  const Symbol* dataAt(uint64_t address) const { return data_.at(address); }
  /// Address of a symbol by its name in the file; linear, for the few questions asked once.
  std::optional<uint64_t> addressOf(std::string_view name) const;
  /// All data symbols, in no order.
  const std::vector<Symbol>& data() const { return data_.symbols; }
  bool empty() const { return functions_.symbols.empty() && data_.symbols.empty(); }

 private:
  struct Candidate {
    Symbol symbol;
    uint64_t limit = 0;  ///< end of its section
    uint8_t rank = 0;    ///< lower is the better alias
  };
  struct Kind {
    std::vector<Symbol> symbols;
    IntervalMap map;
    void build(std::vector<Candidate> candidates);
    const Symbol* at(uint64_t address) const;
  };
  Kind functions_, data_;
};

}  // namespace cacheline::symbols
