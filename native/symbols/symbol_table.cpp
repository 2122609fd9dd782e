// Sorts a symbol table's entries into disjoint address intervals.
#include "symbols/symbol_table.h"

#include <algorithm>

namespace cacheline::symbols {
namespace {

/// The section a symbol is in: by its index where that fits its value, by address for SHN_XINDEX and lying
/// indices.
const ElfSection* sectionOf(const ElfFile& file, const Elf64_Sym& entry) {
  if (entry.st_shndx < file.sections.size() && file.sections[entry.st_shndx].contains(entry.st_value))
    return &file.sections[entry.st_shndx];
  if (entry.st_shndx != SHN_XINDEX) return nullptr;
  for (const ElfSection& section : file.sections)
    if (section.isMapped() && section.contains(entry.st_value)) return &section;
  return nullptr;
}

/// On 64-bit PowerPC up to ABI version 1 a function's symbol is the address of its descriptor in .opd, whose
/// first word is the address of the code. Moves `entry` there; the section of the code, or null.
const ElfSection* followDescriptor(const ElfFile& file, const ElfSection& opd, Elf64_Sym& entry) {
  const Bytes word = clippedSlice(opd.bytes, entry.st_value - opd.header.sh_addr, sizeof(uint64_t));
  if (!file.format.wide || word.size() != sizeof(uint64_t)) return nullptr;
  entry.st_value = file.format.word<uint64_t>(word.data());
  for (const ElfSection& section : file.sections)
    if (section.isMapped() && section.contains(entry.st_value)) return &section;
  return nullptr;
}

uint8_t aliasRank(const Elf64_Sym& entry) {
  const uint8_t binding = ELF64_ST_BIND(entry.st_info);
  const uint8_t byBinding = binding == STB_LOCAL ? 2 : binding == STB_WEAK ? 1 : 0;
  const bool label = ELF64_ST_TYPE(entry.st_info) == STT_NOTYPE;
  return static_cast<uint8_t>(byBinding * 2 + (label ? 1 : 0));
}

/// Marks assemblers leave in code that name nothing: AArch64's `$x`, and local labels that were kept.
bool isAssemblerMark(std::string_view name) {
  return name.starts_with("$") || name.starts_with(".L");
}

}  // namespace

SymbolTable::SymbolTable(const ElfFile& file, uint32_t type) {
  std::vector<Candidate> functions, data;
  const bool descriptors = file.header.e_machine == EM_PPC64 && (file.header.e_flags & EF_PPC64_ABI) < 2;
  for (const ElfSection& table : file.sections) {
    if (table.header.sh_type != type || table.header.sh_link >= file.sections.size()) continue;
    const Bytes names = file.sections[table.header.sh_link].bytes;
    const size_t count = file.symbolCount(table);
    for (size_t i = 1; i < count; i++) {
      Elf64_Sym entry = file.symbol(table, i);
      const uint8_t kind = ELF64_ST_TYPE(entry.st_info);
      const bool isData = kind == STT_OBJECT || kind == STT_COMMON;
      const bool isLabel = kind == STT_NOTYPE;
      if (!isData && !isLabel && kind != STT_FUNC && kind != STT_GNU_IFUNC) continue;
      if (kind == STT_FUNC && file.header.e_machine == EM_ARM) entry.st_value &= ~uint64_t{1};  // Thumb
      const ElfSection* section = sectionOf(file, entry);
      if (kind == STT_FUNC && descriptors && section != nullptr && section->name == ".opd")
        section = followDescriptor(file, *section, entry);
      if (section == nullptr || !section->isMapped()) continue;
      if (isLabel && (section->header.sh_flags & SHF_EXECINSTR) == 0) continue;
      const std::string_view name = stringAt(names, entry.st_name);
      if (name.empty() || (isLabel && isAssemblerMark(name))) continue;
      const uint64_t limit =
          section->header.sh_addr + std::min(section->header.sh_size, UINT64_MAX - section->header.sh_addr);
      (isData ? data : functions)
          .push_back({{entry.st_value, std::min(entry.st_size, limit - entry.st_value), name,
                       ELF64_ST_BIND(entry.st_info) == STB_LOCAL},
                      limit,
                      aliasRank(entry)});
    }
  }
  functions_.build(std::move(functions));
  data_.build(std::move(data));
}

void SymbolTable::Kind::build(std::vector<Candidate> candidates) {
  // Ids follow this order, and IntervalMap gives a tie to the lower id: so the better alias wins.
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    if (a.symbol.address != b.symbol.address) return a.symbol.address < b.symbol.address;
    return a.rank != b.rank ? a.rank < b.rank : a.symbol.name < b.symbol.name;
  });
  std::vector<Interval> intervals;
  intervals.reserve(candidates.size());
  symbols.reserve(candidates.size());
  uint64_t coveredTo = 0;  // by the sized symbols so far
  for (size_t i = 0, groupEnd = 0; i < candidates.size(); i++) {
    const Symbol& symbol = candidates[i].symbol;
    if (i == groupEnd) {  // the first of those at this address
      for (; groupEnd < candidates.size() && candidates[groupEnd].symbol.address == symbol.address;
           groupEnd++)
        if (candidates[groupEnd].symbol.size != 0)
          coveredTo = std::max(coveredTo, symbol.address + candidates[groupEnd].symbol.size);
    }
    const uint64_t nextStart =
        groupEnd < candidates.size() ? candidates[groupEnd].symbol.address : UINT64_MAX;
    // A label inside a sized symbol must not claim the padding behind that symbol.
    if (symbol.size == 0 && symbol.address < coveredTo) continue;
    const uint64_t end =
        symbol.size != 0 ? symbol.address + symbol.size : std::min(nextStart, candidates[i].limit);
    intervals.push_back({symbol.address, end, symbol.size, static_cast<uint32_t>(i)});
  }
  for (const Candidate& candidate : candidates) symbols.push_back(candidate.symbol);
  map = IntervalMap(std::move(intervals));
}

std::optional<uint64_t> SymbolTable::addressOf(std::string_view name) const {
  for (const Kind* kind : {&functions_, &data_})
    for (const Symbol& symbol : kind->symbols)
      if (symbol.name == name) return symbol.address;
  return std::nullopt;
}

const Symbol* SymbolTable::Kind::at(uint64_t address) const {
  const auto id = map.find(address);
  return id ? &symbols[*id] : nullptr;
}

}  // namespace cacheline::symbols
