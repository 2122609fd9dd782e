// DWARF sections byte by byte, for what libdw reads too much of.
#pragma once

#include <elfutils/libdw.h>
#include <libelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "symbols/elf_format.h"

namespace cacheline::symbols {

struct EndHandle {
  void operator()(Elf* elf) const { elf_end(elf); }
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
  void operator()(Dwarf_CFI* cfi) const { dwarf_cfi_end(cfi); }
};
using ElfHandle = std::unique_ptr<Elf, EndHandle>;
using DwarfHandle = std::unique_ptr<Dwarf, EndHandle>;
using FrameHandle = std::unique_ptr<Dwarf_CFI, EndHandle>;

/// Bytes from front to back; `good` turns false at the first thing that is not there.
struct Cursor {
  Bytes rest;
  const ElfFormat& format;
  bool good = true;

  Bytes take(uint64_t count) {
    if (!good || count > rest.size()) {
      good = false;
      return {};
    }
    const Bytes bytes = rest.first(static_cast<size_t>(count));
    rest = rest.subspan(static_cast<size_t>(count));
    return bytes;
  }
  uint8_t byte() {
    const auto bytes = take(1);
    return good ? bytes[0] : uint8_t{0};
  }
  template <typename T>
  T word() {
    const auto bytes = take(sizeof(T));
    return good ? format.word<T>(bytes.data()) : T{0};
  }
  // A number of more than ten bytes is a lie.
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const uint64_t next = byte();
      value |= (next & 0x7f) << shift;
      if ((next & 0x80) == 0) return value;
    }
    good = false;
    return 0;
  }
  uint64_t sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70;) {
      const uint64_t next = byte();
      value |= (next & 0x7f) << shift;
      shift += 7;
      if ((next & 0x80) != 0) continue;
      if ((next & 0x40) != 0 && shift < 64) value |= ~uint64_t{0} << shift;
      return value;
    }
    good = false;
    return 0;
  }
};

/// The bytes of the abbreviations that libdw has taken, and inflated; empty where there are none.
Bytes abbreviationSection(Elf* elf);
/// Bytes from here to the end of its section; 0 where it lies in none. A unit may say that it is longer.
uint64_t roomBehind(Elf* elf, const uint8_t* place);

/// The section's bytes, as they are in the file; empty where it is compressed or absent.
Bytes plainSection(Elf* elf, std::string_view name);
/// The byte order of an open file. Nullopt where its sections want relocating, as those of an object file do.
std::optional<ElfFormat> linkedFormat(Elf* elf);

/// What lists of ranges and of locations of one unit are read with.
struct UnitLists {
  ElfFormat format;
  uint8_t offsetSize = 0;  ///< bytes; 0: libdw reads all of the unit
  uint64_t base = 0;       ///< of the unit, an ELF address
  Bytes lists;             ///< the section; empty: libdw reads the lists
};
/// `die`: any of the unit. `section`: as DWARF 5 names it; of older units and of 32-bit files libdw reads the
/// lists.
UnitLists unitLists(Dwarf_Die die, std::string_view section);

}  // namespace cacheline::symbols
