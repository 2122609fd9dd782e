// Pieces of address ranges, sorted.
#include "heap/block_index.h"

#include <algorithm>
#include <tuple>

namespace cacheline::heap {
namespace {

// No allocator gives two blocks within 8 bytes.
constexpr unsigned kGranuleBits = 3;

}  // namespace

void BlockIndex::add(uint32_t number, const Block& block) {
  if (block.size == 0) return;
  uint64_t from = block.address >> kGranuleBits;
  uint64_t to = ((block.address + (block.size - 1)) >> kGranuleBits) + 1;  // no overflow: see replay
  for (size_t k = 0; from < to; k++, from >>= 1, to >>= 1) {
    if ((from & 1) != 0) sizes_[k].push_back({from++, number});
    if ((to & 1) != 0) sizes_[k].push_back({--to, number});
  }
}

void BlockIndex::build(const std::vector<Block>& blocks, const std::vector<uint32_t>& images) {
  for (std::vector<Entry>& entries : sizes_) {
    entries.shrink_to_fit();
    std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
      return std::tie(a.piece, images[a.block], blocks[a.block].allocated, a.block) <
             std::tie(b.piece, images[b.block], blocks[b.block].allocated, b.block);
    });
  }
}

uint32_t BlockIndex::find(uint32_t image, uint64_t address, uint64_t time, const std::vector<Block>& blocks,
                          const std::vector<uint32_t>& images) const {
  uint32_t best = ~uint32_t{0};
  for (size_t k = 0; k < sizes_.size(); k++) {
    const std::vector<Entry>& entries = sizes_[k];
    if (entries.empty()) continue;
    const uint64_t piece = address >> kGranuleBits >> k;
    const auto after = std::partition_point(entries.begin(), entries.end(), [&](const Entry& entry) {
      return std::tie(entry.piece, images[entry.block], blocks[entry.block].allocated) <=
             std::tie(piece, image, time);
    });
    if (after == entries.begin()) continue;
    const Entry& entry = *(after - 1);
    if (entry.piece != piece || images[entry.block] != image) continue;
    const Block& block = blocks[entry.block];
    if (time >= block.freed || address - block.address >= block.size) continue;
    if (best == ~uint32_t{0} || block.allocated > blocks[best].allocated) best = entry.block;
  }
  return best;
}

}  // namespace cacheline::heap
