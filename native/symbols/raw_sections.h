// DWARF sections byte by byte, for what libdw reads too much of.
#pragma once

#include <libelf.h>

#include <cstdint>
#include <string_view>

#include "symbols/elf_format.h"

namespace cacheline::symbols {

/// Bytes from front to back; `good` turns false at the first thing that is not there.
struct Cursor {
  Bytes rest;
  const symbols::ElfFormat& format;
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

}  // namespace cacheline::symbols
