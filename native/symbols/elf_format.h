// The two classes and two byte orders of ELF: every structure is read into its 64-bit form in this machine's
// byte order.
#pragma once

#include <elf.h>

#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace cacheline::symbols {

using Bytes = std::span<const uint8_t>;

/// What e_ident says of a file. Format: System V gABI, "Object Files" (the class decides the layout).
struct ElfFormat {
  bool wide = true;      ///< ELFCLASS64
  bool swapped = false;  ///< the other byte order than this machine's

  bool operator==(const ElfFormat&) const = default;
  /// Bytes that one entry of the class takes in the file.
  size_t entrySize(std::type_identity<Elf64_Ehdr>) const {
    return wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
  }
  size_t entrySize(std::type_identity<Elf64_Phdr>) const {
    return wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
  }
  size_t entrySize(std::type_identity<Elf64_Shdr>) const {
    return wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  }
  size_t entrySize(std::type_identity<Elf64_Sym>) const {
    return wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  }
  size_t entrySize(std::type_identity<Elf64_Dyn>) const {
    return wide ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);
  }
  size_t entrySize(std::type_identity<Elf64_Nhdr>) const { return sizeof(Elf64_Nhdr); }  // the same in both

  /// Reads the structure at `offset`; false, and `out` untouched, where it is not wholly inside `bytes`.
  template <typename T>
  bool read(Bytes bytes, uint64_t offset, T& out) const {
    const size_t size = entrySize(std::type_identity<T>{});
    if (offset > bytes.size() || bytes.size() - offset < size) return false;
    const uint8_t* at = bytes.data() + offset;
    if (wide && !swapped)
      std::memcpy(&out, at, sizeof out);
    else
      convert(at, out);
    return true;
  }
  /// An unsigned word of 2, 4 or 8 bytes that starts at `at`.
  template <std::unsigned_integral T>
  T word(const uint8_t* at) const {
    T value;
    std::memcpy(&value, at, sizeof value);
    return order(value);
  }

 private:
  template <typename T>
  T order(T value) const {
    if constexpr (sizeof(T) == 1) {
      return value;
    } else if (!swapped) {
      return value;
    } else if constexpr (sizeof(T) == 2) {
      return static_cast<T>(__builtin_bswap16(static_cast<uint16_t>(value)));
    } else if constexpr (sizeof(T) == 4) {
      return static_cast<T>(__builtin_bswap32(static_cast<uint32_t>(value)));
    } else {
      return static_cast<T>(__builtin_bswap64(static_cast<uint64_t>(value)));
    }
  }
  void convert(const uint8_t* at, Elf64_Ehdr& out) const;
  void convert(const uint8_t* at, Elf64_Phdr& out) const;
  void convert(const uint8_t* at, Elf64_Shdr& out) const;
  void convert(const uint8_t* at, Elf64_Sym& out) const;
  void convert(const uint8_t* at, Elf64_Dyn& out) const;
  void convert(const uint8_t* at, Elf64_Nhdr& out) const;
};

}  // namespace cacheline::symbols
