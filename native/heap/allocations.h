// The heap blocks of a recording, by address and time: what the preloaded agent wrote into `allocations`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cacheline::heap {

/// One block: [address, address + size), from `allocated` until `freed`.
struct Block {
  uint64_t address = 0, size = 0;                ///< bytes
  uint64_t allocated = 0, freed = ~uint64_t{0};  ///< ns of the recording's clock; freed ~0: never
  uint32_t pid = 0, tid = 0;                     ///< of the allocating thread
  uint32_t stack = 0;                            ///< index into stacks()
  bool mapping = false;                          ///< made by mmap or mremap, not by an allocator
};

/// Read-only; can be used by several threads.
class Allocations {
 public:
  /// Reads `DIR/allocations` of a recording; null where there is none. What cannot be read of a damaged or
  /// cut file is said in warnings().
  static std::unique_ptr<Allocations> open(const std::string& recordingFolder);
  /// Over bytes in memory, for tests and fuzzing.
  static std::unique_ptr<Allocations> fromBytes(const void* bytes, size_t size, const std::string& name);
  ~Allocations();

  /// The block of process `pid` that held `address` at `time`; null where none is known. A child made by fork
  /// inherits its parent's blocks. Blocks of allocators come before the mappings that they lie in.
  const Block* find(uint32_t pid, uint64_t address, uint64_t time) const;
  /// Return addresses in the process, innermost caller first; the allocator's own frames come first, see
  /// frameKind().
  const std::vector<uint64_t>& stack(uint32_t index) const;
  /// Above the rate 1 in how many blocks below alwaysRecordedFrom() was recorded.
  uint64_t sampling() const;
  uint64_t alwaysRecordedFrom() const;  ///< bytes
  uint64_t blocks() const, lost() const;
  const std::vector<Block>& all() const;  ///< in the order in which they were allocated
  const std::vector<std::string>& warnings() const;

 private:
  struct Impl;
  explicit Allocations(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cacheline::heap
