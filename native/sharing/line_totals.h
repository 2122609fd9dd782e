// What the samples of every line add up to, and no more: some ten bytes a line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/hash.h"
#include "sharing/chunks.h"
#include "sharing/data_source.h"
#include "sharing/dense_index.h"

namespace cacheline::sharing {

/// The samples of one line.
struct alignas(32) LineTotal {
  uint64_t offset = 0;  ///< of its first byte in its space, see analysis/line_space.h
  uint32_t space = 0;
  uint32_t loads = 0, locked = 0, blocked = 0;
  RowCounts counts{};
  void add(const SourceClass& source) {
    loads += source.load ? 1 : 0;
    locked += source.locked;
    blocked += source.blocked;
    count(source, counts);
  }
  void add(const LineTotal& other);
  bool operator==(const LineTotal&) const = default;
};
static_assert(sizeof(LineTotal) == 96);

class LineTotals {
 public:
  /// One sample. `source` stays valid until flush().
  void add(uint64_t lineOffset, uint32_t space, const SourceClass& source) {
    const uint64_t hash = hashOf(lineOffset, space);
    pending_[waiting_] = {lineOffset, hash, &source, space};
    index_.prefetch(hash);
    if (++waiting_ == pending_.size()) flush();
  }
  /// Adds what waits. Before the ones below.
  void flush();
  void add(const LineTotal& line) {
    findLine(line.offset, line.space, hashOf(line.offset, line.space)).add(line);
  }
  void add(const LineTotals& other);
  size_t size() const { return lines_.size(); }
  const LineTotal& operator[](size_t index) const { return lines_[index]; }

 private:
  /// Samples wait until there are some, so that what each of them looks up overlaps with that of others.
  struct Pending {
    uint64_t offset, hash;
    const SourceClass* source;
    uint32_t space;
  };
  static uint64_t hashOf(uint64_t offset, uint32_t space) { return mix(offset, space); }
  LineTotal& findLine(uint64_t offset, uint32_t space, uint64_t hash);

  ChunkPool pool_;
  DenseIndex index_;
  Chunks<LineTotal> lines_{pool_};
  std::array<Pending, 32> pending_;
  size_t waiting_ = 0;
};

}  // namespace cacheline::sharing
