// What a process had mapped where.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "perfdata/reader.h"

namespace cacheline::analysis {

inline constexpr uint32_t kNone = 0xffffffff;

/// What is behind a mapping, the same for every process that maps it so. Interned: few, and kept for ever.
struct Backing {
  std::string name;     ///< a path, "//anon", "[heap]", ...
  std::string buildId;  ///< from the MMAP2 record, hex; else empty
  uint64_t inode = 0;
  uint32_t major = 0, minor = 0;
  bool shared = false;  ///< MAP_SHARED; MMAP records (without flags) say nothing and count as private
  bool operator==(const Backing&) const = default;
  bool anonymous() const { return name == "//anon" || name.empty(); }
  /// False for what only looks like a path: "//anon", "[vdso]", "/memfd:x (deleted)", "/SYSV...",
  /// "/dev/zero".
  bool namesFile() const;
};

/// A piece [start, end) of one mmap. Pieces of one mmap that was partly overmapped keep its `origin`.
struct Mapping {
  uint64_t start = 0, end = 0;
  uint64_t origin = 0;      ///< address at which the mmap began
  uint64_t pageOffset = 0;  ///< file offset at `origin`, bytes
  uint32_t backing = kNone;
  bool code = true;  ///< executable, as far as the recording says
  uint64_t fileOffset(uint64_t address) const { return address - origin + pageOffset; }
  bool contains(uint64_t address) const { return address - start < end - start; }
};

/// The mappings of one process: disjoint pieces sorted by address in leaves of bounded size, which copies
/// share until one of them changes (a fork copies a pointer a leaf). Lookup O(log n), insertion
/// O(log n + leaf).
class MappingSet {
 public:
  /// Null where nothing is mapped. Valid until the next insert() or clear() of this set.
  const Mapping* find(uint64_t address) const;
  /// The piece before the one that contains `address` or would; null where there is none.
  const Mapping* before(uint64_t address) const;
  const Mapping* last() const;
  /// Replaces whatever it overlaps. Ignored where it is empty or wraps around.
  void insert(const Mapping& mapping);
  /// The same for private anonymous memory. The kernel merges neighbours (a thread's stack and the array
  /// above it, say) and reports the merged area at every change; the pieces it swallows whole keep their
  /// origin, so that they stay apart. Above kMaxKept such pieces the area counts as one.
  void insertAnonymous(const Mapping& mapping);
  void clear() { leaves_.clear(); }
  bool empty() const { return leaves_.empty(); }
  size_t size() const;

 private:
  using Leaf = std::vector<Mapping>;
  struct LeafRef {
    uint64_t first = 0;  ///< start of the leaf's first piece
    std::shared_ptr<Leaf> leaf;
  };
  size_t leafOf(uint64_t address) const;
  Leaf& own(size_t index);
  void erase(uint64_t start, uint64_t end);
  static constexpr size_t kMaxKept = 64;
  std::vector<LeafRef> leaves_;
};

/// What is known of a process beside its mappings, and changes with them.
struct ProcessFacts {
  /// One past the highest mapping, [stack], [vdso] and the like left out; 0 where there is none.
  uint64_t top = 0;
  uint32_t program = kNone;       ///< backing of the first file mapped since exec: the program itself
  uint64_t programEnd = 0;        ///< one past its highest mapping
  const char* runtime = nullptr;  ///< what makes code in it at run time, "Java"; null: nothing known does
};

/// One process between fork or exec and the next exec or its end, from one change of its mappings to the
/// next.
struct AddressSpace : ProcessFacts {
  uint32_t pid = 0;
  uint32_t id = 0;  ///< unique over the recording; a pid gets a new one with every exec and every reuse
  uint32_t generation = 0;   ///< changes with the mappings
  uint32_t incarnation = 0;  ///< how many forks and execs of this pid came before, as far as records say
  std::shared_ptr<const MappingSet> mappings;  ///< never null
  perfdata::Moment from, until;                ///< it was so from `from` on, and no longer at `until`

  /// Keeps the last hits of code and data apart: they alternate.
  const Mapping* find(uint64_t address, const Mapping*& hint) const {
    if (hint == nullptr || !hint->contains(address)) hint = mappings->find(address);
    return hint;
  }
  mutable const Mapping* codeHint = nullptr;
  mutable const Mapping* dataHint = nullptr;
};

}  // namespace cacheline::analysis
