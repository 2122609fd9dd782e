// Evidence for heap blocks, and the functions that allocated them.
#include "analysis/heap_blocks.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "heap/allocator_frames.h"

namespace cacheline::analysis {

namespace {

// Of the samples at a place that no block is known to hold, those that are looked up: the first, then one in
// kThenEvery.
constexpr uint32_t kFirstSamples = 8, kThenEvery = 64;

constexpr size_t kMostCallersKept = 2;
constexpr size_t kMostCandidates = 16;  // of a place and an instruction

}  // namespace

void HeapBlocks::add(const AddressSpace& space, Position position, uint64_t address, uint64_t time,
                     uint32_t location, uint32_t samples) {
  if (allocations_ == nullptr) return;
  Evidence& evidence = evidence_[Key{position.offset, position.space, location}];
  if (time < evidence.until && time >= evidence.from) {
    evidence.candidates[evidence.current].samples += samples;
    return;
  }
  if (evidence.until != 0) evidence.until = evidence.unsure = 0;  // it was freed
  evidence.waiting += samples;
  if (++evidence.unsure <= kFirstSamples || samples > 1 || evidence.unsure % kThenEvery == 0)
    lookUp(space, address, time, evidence);
}

void HeapBlocks::lookUp(const AddressSpace& space, uint64_t address, uint64_t time, Evidence& evidence) {
  const uint32_t samples = std::exchange(evidence.waiting, 0);
  const heap::Block* block = allocations_->find(space.pid, address, time);
  if (block == nullptr) return;
  BlockEvidence candidate;
  candidate.size = block->size;
  candidate.ahead = address - block->address;
  candidate.stack = stackOf(space, block->stack);
  candidate.mapping = block->mapping;
  auto known = std::find_if(evidence.candidates.begin(), evidence.candidates.end(),
                            [&](const BlockEvidence& other) { return other.isSame(candidate); });
  if (known == evidence.candidates.end()) {
    if (evidence.candidates.size() == kMostCandidates) return;
    known = evidence.candidates.insert(known, candidate);
  }
  known->samples += samples;
  if (std::exchange(known->last, block) != block) ++known->blocks;
  // Others may be allocated in a mapping, and a child frees what it inherited without its parent's notice.
  if (block->mapping || block->pid != space.pid) return;
  evidence.from = block->allocated;
  evidence.until = block->freed;
  evidence.current = static_cast<uint32_t>(known - evidence.candidates.begin());
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
    places.push_back({binaries_.of(timeline_.backing(mapping->backing)), mapping->fileOffset(call)});
  }
  stacks_.push_back(std::move(places));
  return static_cast<uint32_t>(stacks_.size() - 1);
}

/// The innermost function of the program, inlined ones too, and who called it: it may be one that allocates
/// for everybody. Where the program has none, the outermost of a library.
void HeapBlocks::nameOrigin(const std::vector<CodePlace>& stack, HeapBlock& block) {
  bool found = false;
  for (const CodePlace& place : stack) {
    if (block.callers.size() == kMostCallersKept) return;
    if (place.binary == kNone) continue;
    const CodeName& name = *names_.atOffset(place.binary, place.fileOffset);
    const auto take = [&](const symbols::SourceFrame& frame) {
      const heap::FrameKind kind = heap::frameKind(frame.function, frame.file, name.object);
      if (frame.function.empty() || kind == heap::FrameKind::allocator ||
          block.callers.size() == kMostCallersKept)
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

/// `sampled`: gets whether there are samples of the locations themselves.
std::vector<HeapBlocks::BlockEvidence> HeapBlocks::candidatesOf(Position position,
                                                                std::span<const uint32_t> locations,
                                                                bool& sampled) {
  std::vector<BlockEvidence> candidates;
  sampled = false;
  const auto take = [&](const Key& key) {
    const auto evidence = evidence_.find(key);
    if (evidence == evidence_.end()) return;
    sampled = true;
    for (const BlockEvidence& candidate : evidence->second.candidates) {
      const auto known = std::find_if(candidates.begin(), candidates.end(),
                                      [&](const BlockEvidence& other) { return other.isSame(candidate); });
      if (known == candidates.end()) {
        candidates.push_back(candidate);
      } else {
        known->samples += candidate.samples;
        known->blocks = std::max(known->blocks, candidate.blocks);  // they are mostly the same ones
      }
    }
  };
  for (const uint32_t location : locations) take({position.offset, position.space, location});
  if (sampled) return candidates;
  const auto order = [](const Key& key) { return std::tuple(key.space, key.offset, key.location); };
  const auto before = [&](const Key& a, const Key& b) { return order(a) < order(b); };
  if (byPlace_.size() != evidence_.size()) {
    byPlace_.clear();
    for (const auto& [key, evidence] : evidence_) byPlace_.push_back(key);
    std::sort(byPlace_.begin(), byPlace_.end(), before);
  }
  for (auto it = std::lower_bound(byPlace_.begin(), byPlace_.end(), Key{position.offset, position.space, 0},
                                  before);
       it != byPlace_.end() && it->space == position.space && it->offset == position.offset; ++it)
    take(*it);
  sampled = false;
  return candidates;
}

/// "31% of the samples fell into 1 other block that was there before or after: 128 bytes allocated in f()".
std::string HeapBlocks::othersOf(const std::vector<BlockEvidence>& candidates, const BlockEvidence& chosen) {
  uint64_t all = 0, elsewhere = 0, blocks = 0;
  const BlockEvidence* most = nullptr;
  for (const BlockEvidence& candidate : candidates) {
    all += candidate.samples;
    if (candidate.mapping || candidate.isSame(chosen)) continue;
    elsewhere += candidate.samples;
    blocks += candidate.blocks;
    if (most == nullptr || candidate.samples > most->samples) most = &candidate;
  }
  std::string text;
  if (chosen.mapping) return text;
  if (chosen.blocks > 1)
    text = std::to_string(chosen.blocks) + " blocks from the same call were there, one after another";
  if (most == nullptr) return text;
  if (!text.empty()) text += "; ";
  const uint64_t percent = 100 * elsewhere / all;
  HeapBlock block;
  nameOrigin(stacks_[most->stack], block);
  text += (percent == 0 ? std::string("less than 1") : std::to_string(percent)) +
          "% of the samples fell into " + std::to_string(blocks) +
          (blocks == 1 ? " other block" : " other blocks") + " that " + (blocks == 1 ? "was" : "were") +
          " there before or after" + (blocks == 1 ? ": " : ", most into one of ") +
          std::to_string(most->size) + " bytes allocated in " +
          (block.function.empty() ? "an unknown function" : block.function);
  if (!block.place.file.empty()) {
    const size_t slash = block.place.file.rfind('/');
    text += " (" + block.place.file.substr(slash + 1) + ':' + std::to_string(block.place.line) + ')';
  }
  return text;
}

std::optional<HeapBlocks::Found> HeapBlocks::at(Position position, std::span<const uint32_t> locations,
                                                std::optional<Extent> object) {
  bool isSampled = false;
  const std::vector<BlockEvidence> candidates = candidatesOf(position, locations, isSampled);
  // Less than the whole object may have been allocated, where the code needs no more of it.
  const auto rank = [&](const BlockEvidence& candidate) {
    const bool whole = !object || candidate.ahead - object->offset + object->size <= candidate.size;
    return std::pair(whole, candidate.samples);
  };
  const BlockEvidence* most = nullptr;
  for (const BlockEvidence& candidate : candidates)
    if ((!object || object->offset <= candidate.ahead) && (most == nullptr || rank(candidate) > rank(*most)))
      most = &candidate;
  if (most == nullptr) return std::nullopt;
  Found found;
  found.ahead = most->ahead;
  found.block.size = most->size;
  found.allocated = most->last->allocated;
  found.freed = most->last->freed;
  found.stack = stacks_[most->stack];
  nameOrigin(stacks_[most->stack], found.block);
  if (isSampled) found.others = othersOf(candidates, *most);
  return found;
}

}  // namespace cacheline::analysis
