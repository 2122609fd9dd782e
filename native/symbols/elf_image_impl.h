// The insides of ElfImage, which Module shares: it attaches a separate debug file's symbols.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "symbols/alternatives.h"
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
  /// What is from `address` on, as `bytesAt` says.
  Bytes bytesAt(uint64_t address, uint64_t size) const;

 private:
  /// Of relocatable files and kernels: the code that runs is not what the file holds.
  CodeCopies copyCode() const;
  mutable std::once_flag codeOnce;
  mutable CodeCopies code;
  mutable std::once_flag symbolsOnce;
  mutable SymbolTable symbolTable;
  mutable std::once_flag threadLocalsOnce;
  mutable ThreadLocals threadLocalTable;
};

}  // namespace cacheline::symbols
