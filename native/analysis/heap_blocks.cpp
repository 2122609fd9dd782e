// Votes for heap blocks, and the functions that allocated them.
#include "analysis/heap_blocks.h"

#include <algorithm>

#include "heap/allocator_frames.h"

namespace cacheline::analysis {

namespace {

// Samples of a place that are looked up: the first, then one in kThenEvery.
constexpr uint32_t kFirstSamples = 8, kThenEvery = 64;

constexpr size_t kMostCallers = 2;

}  // namespace

void HeapBlocks::add(const AddressSpace& space, Position position, uint64_t address, uint64_t time) {
  if (allocations_ == nullptr) return;
  Cell& cell = cells_[Key{position.offset, position.space}];
  if (++cell.seen > kFirstSamples && cell.seen % kThenEvery != 0) return;
  const heap::Block* block = allocations_->find(space.pid, address, time);
  if (block == nullptr) return;
  const auto known = std::find_if(cell.votes.begin(), cell.votes.end(),
                                  [&](const Vote& vote) { return vote.block == block; });
  if (known != cell.votes.end())
    ++known->votes;
  else
    cell.votes.push_back({block, stackOf(space, block->stack), 1});
}

/// Where the frames of a stack lie, while the mappings are those of the time.
uint32_t HeapBlocks::stackOf(const AddressSpace& space, uint32_t stack) {
  const auto [it, added] =
      stackIndex_.try_emplace((uint64_t{space.id} << 32) | stack, static_cast<uint32_t>(stacks_.size()));
  if (!added) return it->second;
  std::vector<CodePlace> places;
  for (const uint64_t address : allocations_->stack(stack)) {
    const uint64_t call = address - 1;  // the call is before its return address
    const Mapping* mapping = space.mappings->find(call);
    if (mapping == nullptr) continue;
    places.push_back({binaries_.of(spaces_.backing(mapping->backing)), mapping->fileOffset(call)});
  }
  stacks_.push_back(std::move(places));
  return static_cast<uint32_t>(stacks_.size() - 1);
}

/// The innermost function of the program, inlined ones too, and who called it: it may be one that allocates
/// for everybody. Where the program has none, the outermost of a library.
void HeapBlocks::nameOrigin(const std::vector<CodePlace>& stack, HeapBlock& block) {
  bool found = false;
  for (const CodePlace& place : stack) {
    if (block.callers.size() == kMostCallers) return;
    if (place.binary == kNone) continue;
    const CodeName& name = *names_.atOffset(place.binary, place.fileOffset);
    const auto take = [&](const symbols::SourceFrame& frame) {
      const heap::FrameKind kind = heap::frameKind(frame.function, frame.file, name.object);
      if (frame.function.empty() || kind == heap::FrameKind::allocator ||
          block.callers.size() == kMostCallers)
        return;
      if (found) {
        if (kind == heap::FrameKind::program) block.callers.push_back(frame);
        return;
      }
      found = kind == heap::FrameKind::program;
      block.function = frame.function;
      block.place = {frame.file, frame.line};
    };
    if (name.inlined.empty()) take({name.symbol, name.file, name.line});
    for (const symbols::SourceFrame& frame : name.inlined) take(frame);
  }
}

std::optional<HeapBlocks::Found> HeapBlocks::at(Position position) {
  const auto cell = cells_.find(Key{position.offset, position.space});
  if (cell == cells_.end() || cell->second.votes.empty()) return std::nullopt;
  const std::vector<Vote>& votes = cell->second.votes;
  const Vote& most = *std::max_element(votes.begin(), votes.end(),
                                       [](const Vote& a, const Vote& b) { return a.votes < b.votes; });
  Found found;
  found.address = most.block->address;
  found.block.size = most.block->size;
  found.stack = stacks_[most.stack];
  nameOrigin(stacks_[most.stack], found.block);
  return found;
}

}  // namespace cacheline::analysis
