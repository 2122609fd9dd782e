// The index of heap blocks.
#include "heap/allocations.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/unique_fd.h"
#include "heap/block_index.h"
#include "heap/file_reader.h"
#include "heap/replay.h"

namespace cacheline::heap {
namespace {

constexpr uint32_t kNoBlock = ~uint32_t{0};
constexpr int kMostForks = 64;  // of an address's way up to the ancestor that allocated it

}  // namespace

struct Allocations::Impl {
  Lives lives;
  BlockIndex blocks, mappings;
  std::vector<std::vector<uint64_t>> stacks;
  uint64_t sampling = 0, alwaysFrom = 0, recorded = 0, lost = 0;
  std::vector<std::string> warnings;

  explicit Impl(FileContent&& content) : lives(replay(content)) {
    for (uint32_t i = 0; i < lives.blocks.size(); i++)
      (lives.blocks[i].mapping ? mappings : blocks).add(i, lives.blocks[i]);
    blocks.build(lives.blocks, lives.imageOfBlock);
    mappings.build(lives.blocks, lives.imageOfBlock);
    stacks = std::move(content.stacks);
    sampling = content.sampling;
    alwaysFrom = content.alwaysFrom;
    recorded = content.blocks;
    lost = content.lost;
    warnings = std::move(content.warnings);
  }

  uint32_t imageAt(uint32_t pid, uint64_t time) const {
    const auto found = lives.imagesOfProcess.find(pid);
    if (found == lives.imagesOfProcess.end()) return Image::kNone;
    const std::vector<uint32_t>& images = found->second;
    const auto after = std::partition_point(images.begin(), images.end(),
                                            [&](uint32_t i) { return lives.images[i].start <= time; });
    return after == images.begin() ? Image::kNone : *(after - 1);
  }

  /// In `image` or, while nobody on the way down from there has freed it, in one that it was forked from.
  const Block* find(const BlockIndex& index, uint32_t image, uint64_t address, uint64_t time) const {
    std::vector<std::pair<uint32_t, uint64_t>> way;  // images below the one that is asked, and until when
    for (int i = 0; i < kMostForks && image != Image::kNone; i++) {
      const uint32_t number = index.find(image, address, time, lives.blocks, lives.imageOfBlock);
      if (number != kNoBlock) {
        const Block& block = lives.blocks[number];
        const bool freedBelow = std::any_of(way.begin(), way.end(), [&](const auto& step) {
          const auto& frees = lives.images[step.first].inheritedFrees;
          const auto freed = frees.find(block.address);
          return freed != frees.end() && freed->second <= step.second;
        });
        return freedBelow ? nullptr : &block;
      }
      way.emplace_back(image, time);
      time = lives.images[image].start;
      image = lives.images[image].parent;
    }
    return nullptr;
  }
};

std::unique_ptr<Allocations> Allocations::open(const std::string& recordingFolder) {
  const std::string path = recordingFolder + "/allocations";
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && errno == ENOENT) return nullptr;
  struct stat info {};
  std::vector<uint64_t> words;
  size_t size = 0;
  // Read, not mapped: on a full tmpfs a look at a hole of a mapped file is a SIGBUS.
  int errnum = !fd || ::fstat(fd.get(), &info) != 0 ? errno : 0;
  if (errnum == 0) words.resize(static_cast<size_t>(info.st_size) / sizeof(uint64_t) + 1);
  while (errnum == 0 && size < words.size() * sizeof(uint64_t)) {
    const ssize_t count = ::read(fd.get(), reinterpret_cast<char*>(words.data()) + size,
                                 words.size() * sizeof(uint64_t) - size);
    if (count == 0) break;
    if (count > 0) size += static_cast<size_t>(count);
    if (count < 0 && errno != EINTR) errnum = errno;
  }
  FileContent content = readFile({reinterpret_cast<const uint8_t*>(words.data()), size}, path);
  if (errnum != 0) content.warnings = {describeErrno("cannot read " + path, errnum)};
  return std::unique_ptr<Allocations>(new Allocations(std::make_unique<Impl>(std::move(content))));
}

std::unique_ptr<Allocations> Allocations::fromBytes(const void* bytes, size_t size, const std::string& name) {
  std::vector<uint64_t> words(size / sizeof(uint64_t) + 1);
  if (size > 0) std::memcpy(words.data(), bytes, size);
  FileContent content = readFile({reinterpret_cast<const uint8_t*>(words.data()), size}, name);
  return std::unique_ptr<Allocations>(new Allocations(std::make_unique<Impl>(std::move(content))));
}

Allocations::Allocations(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Allocations::~Allocations() = default;

const Block* Allocations::find(uint32_t pid, uint64_t address, uint64_t time) const {
  const uint32_t image = impl_->imageAt(pid, time);
  const Block* block = impl_->find(impl_->blocks, image, address, time);
  return block != nullptr ? block : impl_->find(impl_->mappings, image, address, time);
}

const std::vector<uint64_t>& Allocations::stack(uint32_t index) const {
  return impl_->stacks[index < impl_->stacks.size() ? index : 0];
}

uint64_t Allocations::sampling() const {
  return impl_->sampling;
}
uint64_t Allocations::alwaysRecordedFrom() const {
  return impl_->alwaysFrom;
}
uint64_t Allocations::blocks() const {
  return impl_->recorded;
}
uint64_t Allocations::lost() const {
  return impl_->lost;
}
const std::vector<Block>& Allocations::all() const {
  return impl_->lives.blocks;
}
const std::vector<std::string>& Allocations::warnings() const {
  return impl_->warnings;
}

}  // namespace cacheline::heap
