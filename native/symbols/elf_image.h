// One ELF file: segments, symbols, build id. Bounds-checked; any bytes are valid input.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"

namespace cacheline::symbols {

/// Addresses are the file's own virtual addresses (before any load bias).
struct Symbol {
  uint64_t address = 0;
  uint64_t size = 0;  ///< bytes; 0 in hand-written assembly: then it reaches to the next symbol of its kind
  std::string_view name;  ///< as in the file, mangled; points into the mapped file
  bool local = false;     ///< STB_LOCAL: other files may have another one of that name
};

struct Segment {  ///< a PT_LOAD
  uint64_t address = 0, fileOffset = 0, fileSize = 0, memorySize = 0, alignment = 0;
  bool readable = false, writable = false, executable = false;
};

class ThreadLocals;

struct Section {
  uint64_t address = 0, size = 0;
};

class ElfImage {
 public:
  /// Throws Error(unreadable) where the file cannot be read or is no ELF file.
  static std::shared_ptr<const ElfImage> open(const std::string& path);
  ~ElfImage();

  const std::string& path() const;
  const std::string& buildId() const;  ///< lower-case hex, empty where there is none
  const std::vector<Segment>& segments() const;
  uint16_t machine() const;  ///< EM_X86_64, ...
  /// A separate debug file: segments and symbols, but no code and no data.
  bool isDebugOnly() const;
  bool isRelocatable() const;   ///< an object file or a kernel module (.ko): sections, no segments
  bool hasSymbolTable() const;  ///< .symtab (not only .dynsym)
  bool hasDebugInfo() const;    ///< .debug_info, or compressed
  /// File offset (of a mapping's pgoff) to virtual address; nullopt outside every PT_LOAD.
  std::optional<uint64_t> addressOfFileOffset(uint64_t fileOffset) const;
  /// The symbol covering the address: functions (STT_FUNC, GNU_IFUNC, NOTYPE in executable sections) and data
  /// (STT_OBJECT, STT_COMMON). .symtab, else .dynsym; also those of a separate debug file once attached by
  /// Module.
  const Symbol* functionAt(uint64_t address) const;
  const Symbol* dataAt(uint64_t address) const;
  /// Address of a function or data symbol by its name in the file; nullopt where there is none.
  std::optional<uint64_t> addressOfSymbol(std::string_view name) const;
  /// Addresses in a process less the file's own, by one of its mappings of the file (bytes; a mapping begins
  /// at a page); nullopt: no segment begins in that.
  std::optional<uint64_t> loadBias(uint64_t start, uint64_t end, uint64_t fileOffset) const;
  /// All data symbols, in no order.
  std::span<const Symbol> dataSymbols() const;
  /// Names of the thread-local variables, which have no address of their own; read anew at each call.
  std::vector<std::string_view> threadLocalNames() const;
  /// How code finds them; read on first use.
  const ThreadLocals& threadLocals() const;
  /// Whether other binaries of a process see its symbol of that name: .dynsym defines it. Read anew at each
  /// call.
  bool exports(std::string_view name) const;
  /// File bytes mapped at [address, address + size), clipped to the segment's file part; empty where there
  /// are none, and in debug-only files. Of relocatable files: code alone, with its relocations applied. Of
  /// kernels: code as it is after boot, as far as the file says (alternatives.h).
  std::span<const uint8_t> bytesAt(uint64_t address, uint64_t size) const;
  /// Name of the section holding an address (".bss", ".data", ...), empty where unknown.
  std::string_view sectionAt(uint64_t address) const;
  std::optional<Section> section(std::string_view name) const;

 private:
  friend class Module;
  struct Impl;
  explicit ElfImage(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Build id of an ELF file by path without indexing anything else; empty where there is none or the file
/// cannot be read.
std::string readBuildId(const std::string& path);

}  // namespace cacheline::symbols
