// The insides of ElfImage, which Module shares: it attaches a separate debug file's symbols.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "symbols/elf_file.h"
#include "symbols/elf_image.h"
#include "symbols/symbol_table.h"
#include "symbols/thread_locals.h"

namespace cacheline::symbols {

struct ElfImage::Impl {
  MappedFile mapped;
  std::string path;
  ElfFile file;
  std::string buildId;
  std::vector<Segment> segments;
  bool debugOnly = false;
  std::shared_ptr<const ElfImage> symbolFile;  ///< set by Module before the first look-up, or null

  /// .symtab of the file, else of `symbolFile`, else .dynsym of the file; sorted on first use.
  const SymbolTable& symbols() const;
  const ThreadLocals& threadLocals() const;
  /// The code of a relocatable file from `address` on, as its relocations make it.
  Bytes relocatedCode(uint64_t address, uint64_t size) const;

 private:
  mutable std::once_flag codeOnce;
  mutable std::map<uint64_t, std::vector<uint8_t>> code;  ///< by the address of the section
  mutable std::once_flag symbolsOnce;
  mutable SymbolTable symbolTable;
  mutable std::once_flag threadLocalsOnce;
  mutable ThreadLocals threadLocalTable;
};

}  // namespace cacheline::symbols
