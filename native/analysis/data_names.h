// What lies at a data address: a variable of a binary, the heap, a stack, or a mapping.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/binaries.h"
#include "analysis/report.h"
#include "analysis/timeline.h"

namespace cacheline::analysis {

/// What was mapped at a line when it was first touched.
struct Region {
  uint32_t backing = kNone;  ///< kNone: the main thread's stack, for which no record exists
  uint64_t origin = 0;       ///< start of the mapping; of a main stack: the lowest line seen
  uint64_t pageOffset = 0;
  /// For anonymous memory: the last private file mapping below it. The end of a module's .bss has no file
  /// behind it and is reported as an anonymous mapping (or as part of the heap).
  uint32_t owner = kNone;
  uint64_t ownerOrigin = 0, ownerPageOffset = 0;
  bool heap = false;  ///< the program break's area, which records call "//anon"
  bool file = false;  ///< private memory of a file
};

struct NamedData {
  DataName name;
  uint32_t binary = kNone;  ///< that holds the variable
  bool symbol = false;      ///< `name` is a variable or a symbol of `binary`
  uint64_t elfAddress = 0;  ///< of the access in `binary`
  uint64_t address = 0;     ///< of the access
};

class DataNames {
 public:
  DataNames(Binaries& binaries, const Timeline& timeline) : binaries_(binaries), timeline_(timeline) {}

  /// Index of the region of a line; `mapping` null: the main stack. Regions are interned.
  uint32_t regionOf(const AddressSpace& space, const Mapping* mapping, uint64_t lineAddress);
  /// Names `address`. `position` is the file offset in a shared mapping; `stack`: a stack pointer was seen in
  /// the mapping; `owner`: of the stack that it is, where one is known. A variable's offset counts from its
  /// start, others from the mapping's start (in shared mappings: from the file's start; in the main stack:
  /// from the lowest line seen).
  NamedData name(uint32_t region, bool stack, const std::optional<StackOwner>& owner, uint64_t address,
                 uint64_t position);
  /// Whether the program is of Go. Goroutines' stacks lie among the heap's blocks: there a stack pointer does
  /// not tell what around it is stack.
  bool isGo(const AddressSpace& space);
  /// Whether it is private memory of a file, whose symbols name what is in it.
  bool hasSymbols(uint32_t region) const { return regions_[region].file; }
  /// Whether symbols name all words of [address, address + bytes) there. Each line is looked at once.
  bool isNamed(uint32_t region, uint64_t address, uint64_t bytes);
  /// Whether it is the stack that the kernel made for the process's main thread.
  bool isMainStack(uint32_t region) const { return mapping(region) == "[stack]"; }
  /// As the record names it: a path, "//anon"; but always "[heap]" and "[stack]".
  const std::string& mapping(uint32_t region) const;

 private:
  struct Key {
    uint64_t origin = 0;
    uint64_t end = 0;  ///< pieces of one mmap can have different owners
    uint32_t space = 0, backing = 0;
    bool operator==(const Key&) const = default;
    size_t hash() const { return mix(mix(origin, end), (uint64_t{space} << 32) | backing); }
  };
  struct NamedKey {
    uint64_t address = 0, bytes = 0;
    uint32_t region = 0;
    bool operator==(const NamedKey&) const = default;
    size_t hash() const { return mix(mix(address, bytes), region); }
  };
  bool namesAll(const Region& region, uint64_t address, uint64_t bytes);
  /// The ELF image that a place of a file belongs to, and the address there; null: no such place.
  const symbols::ElfImage* imageAt(uint32_t backing, uint64_t fileOffset, bool beyondFile, NamedData& named);
  bool variable(uint32_t backing, uint64_t fileOffset, bool beyondFile, NamedData& named);

  Binaries& binaries_;
  const Timeline& timeline_;
  std::vector<Region> regions_;
  HashMap<Key, uint32_t> index_;
  HashMap<NamedKey, bool> named_;
  HashMap<uint32_t, bool> mixes_;  ///< by the program's backing
};

/// Whether an address in no mapping can only be the main thread's stack, which no MMAP record announces: it
/// is above every mapping of the process, and either near the sample's stack pointer or in the area at the
/// top of the address space into which x86-64 Linux places stacks (47 bits less at most 16 GiB of
/// randomisation).
bool isMainStack(const AddressSpace& space, uint64_t address, const Registers& registers);

/// Whether `address` is in the used part of the stack that the sample's stack pointer is in.
bool isOwnStack(const Mapping& mapping, uint64_t address, const Registers& registers);

}  // namespace cacheline::analysis
