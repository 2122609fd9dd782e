// From allocations and frees to lives.
#include "heap/replay.h"

#include <algorithm>
#include <map>
#include <utility>

namespace cacheline::heap {
namespace {

constexpr uint64_t kAddressEnd = uint64_t{1} << HEAP_VALUE_BITS;
constexpr uint64_t kAlive = ~uint64_t{0};

/// What lives in an image while the events are played.
struct Living {
  HashMap<uint64_t, uint32_t> blocks;     // by address
  std::map<uint64_t, uint32_t> mappings;  // by address; they do not overlap
};

class Replay {
 public:
  explicit Replay(const FileContent& content) : content_(content) {}

  Lives play() {
    for (const Event& event : content_.events) apply(event, content_.owners[event.owner]);
    return std::move(lives_);
  }

 private:
  void apply(const Event& event, const Owner& owner) {
    const uint64_t value = content_.value(event);
    switch (content_.kind(event)) {
      case HEAP_IMAGE:
        return startImage(owner.pid, event.time, Image::kNone);
      case HEAP_FORK: {
        const uint32_t parent = currentImage(static_cast<uint32_t>(value));
        return startImage(owner.pid, event.time, parent);
      }
      case HEAP_ALLOCATE:
        return allocate(event, owner, currentImage(owner.pid));
      case HEAP_FREE:
        return free(value, event.time, currentImage(owner.pid));
      case HEAP_MAP:
        return map(event, owner, currentImage(owner.pid));
      case HEAP_UNMAP:
        return unmap(value, content_.size(event), event.time, currentImage(owner.pid));
      default:
        return;
    }
  }

  void startImage(uint32_t pid, uint64_t time, uint32_t parent) {
    std::vector<uint32_t>& images = lives_.imagesOfProcess[pid];
    if (!images.empty()) {  // exec ends what the process had
      Living& living = living_[images.back()];
      for (const auto& [address, block] : living.blocks) lives_.blocks[block].freed = time;
      for (const auto& [address, block] : living.mappings) lives_.blocks[block].freed = time;
      living = {};
    }
    images.push_back(static_cast<uint32_t>(lives_.images.size()));
    lives_.images.push_back({time, parent, {}});
    living_.emplace_back();
  }

  /// Of a process whose start is not in the file: one from the beginning on.
  uint32_t currentImage(uint32_t pid) {
    if (const auto found = lives_.imagesOfProcess.find(pid); found != lives_.imagesOfProcess.end())
      return found->second.back();
    startImage(pid, 0, Image::kNone);
    return static_cast<uint32_t>(lives_.images.size() - 1);
  }

  uint32_t addBlock(const Block& block, uint32_t image) {
    lives_.blocks.push_back(block);
    lives_.imageOfBlock.push_back(image);
    return static_cast<uint32_t>(lives_.blocks.size() - 1);
  }

  Block blockOf(const Event& event, const Owner& owner, bool mapping) const {
    Block block;
    block.address = content_.value(event);
    block.size = std::clamp<uint64_t>(content_.size(event), 1, kAddressEnd - block.address);
    block.allocated = event.time;
    block.pid = owner.pid;
    block.tid = owner.tid;
    block.mapping = mapping;
    if (const auto stack = content_.stackOfHash.find(content_.stackHash(event));
        stack != content_.stackOfHash.end())
      block.stack = stack->second;
    return block;
  }

  void allocate(const Event& event, const Owner& owner, uint32_t image) {
    const Block block = blockOf(event, owner, false);
    const auto [entry, isNew] = living_[image].blocks.try_emplace(block.address, 0);
    if (!isNew) lives_.blocks[entry->second].freed = event.time;  // its free was not seen
    entry.value() = addBlock(block, image);
  }

  void free(uint64_t address, uint64_t time, uint32_t image) {
    HashMap<uint64_t, uint32_t>& living = living_[image].blocks;
    if (const auto found = living.find(address); found != living.end()) {
      lives_.blocks[found->second].freed = time;
      living.erase(found);
    } else if (lives_.images[image].parent != Image::kNone) {
      lives_.images[image].inheritedFrees.try_emplace(address, time);
    }
  }

  void map(const Event& event, const Owner& owner, uint32_t image) {
    const Block block = blockOf(event, owner, true);
    unmap(block.address, block.size, event.time, image);  // MAP_FIXED replaces
    living_[image].mappings[block.address] = addBlock(block, image);
  }

  /// What is left of a mapping goes on as one of its own.
  void unmap(uint64_t address, uint64_t size, uint64_t time, uint32_t image) {
    const uint64_t end = address + std::min(size, kAddressEnd - address);
    std::map<uint64_t, uint32_t>& mappings = living_[image].mappings;
    auto at = mappings.upper_bound(address);
    if (at != mappings.begin()) --at;
    while (at != mappings.end() && at->first < end) {
      const Block whole = lives_.blocks[at->second];
      const uint64_t wholeEnd = whole.address + whole.size;
      if (wholeEnd <= address) {
        ++at;
        continue;
      }
      lives_.blocks[at->second].freed = time;
      at = mappings.erase(at);
      if (whole.address < address) addRest(whole, whole.address, address, time, image);
      if (wholeEnd > end) {
        addRest(whole, end, wholeEnd, time, image);
        return;
      }
    }
  }

  void addRest(Block rest, uint64_t from, uint64_t to, uint64_t time, uint32_t image) {
    rest.address = from;
    rest.size = to - from;
    rest.allocated = time;
    rest.freed = kAlive;
    living_[image].mappings[from] = addBlock(rest, image);
  }

  const FileContent& content_;
  Lives lives_;
  std::vector<Living> living_;  // one an image
};

}  // namespace

Lives replay(const FileContent& content) {
  return Replay(content).play();
}

}  // namespace cacheline::heap
