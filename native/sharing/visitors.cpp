// Goroutines by the register that holds them.
#include "sharing/visitors.h"

#include <cstring>

#include "sharing/dense_index.h"

namespace cacheline::sharing {

namespace {

constexpr uint64_t kAlignment = 8;

// .go.buildinfo: 14 bytes of magic, the size of a pointer, flags. Since Go 1.18 the version stands behind it
// and not behind pointers; 1.17 was the first with ABIInternal.
constexpr char kMagic[] = "\xff Go buildinf:";
constexpr size_t kMagicSize = sizeof(kMagic) - 1, kFlagsAt = 15;
constexpr uint8_t kInline = 2;

}  // namespace

bool Visitors::keepsGoroutine(uint32_t binary) {
  if (binary >= keeps_.size()) keeps_.resize(binary + size_t{1}, -1);
  if (keeps_[binary] < 0) {
    const symbols::ElfImage* image = binaries_.codeImage(binary);
    const auto section = image == nullptr ? std::nullopt : image->section(".go.buildinfo");
    const auto bytes = section ? image->bytesAt(section->address, kFlagsAt + 1) : std::span<const uint8_t>();
    keeps_[binary] = bytes.size() > kFlagsAt && std::memcmp(bytes.data(), kMagic, kMagicSize) == 0 &&
                     (bytes[kFlagsAt] & kInline) != 0;
  }
  return keeps_[binary] != 0;
}

/// Assembly of Go's library may use r14 for something else.
uint32_t Visitors::indexOf(uint64_t goroutine, const analysis::AddressSpace& space) {
  const auto [known, isNew] = actors_.try_emplace({goroutine, space.id}, analysis::kNone);
  if (isNew && goroutine % kAlignment == 0 && space.mappings->find(goroutine) != nullptr &&
      seen_.countOfR14(space.pid, goroutine) >= kGoroutineSamples)
    known.value() = kFirst + static_cast<uint32_t>(actors_.size());
  return known->second;
}

uint32_t Visitors::of(uint32_t thread, const analysis::AddressSpace& space, uint32_t code,
                      const perfdata::Sample& sample) {
  if (!sample.registers.has(kRegR14) || !keepsGoroutine(code)) return thread;
  const uint32_t actor = indexOf(sample.registers.value[kRegR14], space);
  if (actor == analysis::kNone) return thread;
  const Pair pair{actor, thread};
  const auto [known, isNew] = visitors_.try_emplace(pair, kFirst + static_cast<uint32_t>(pairs_.size()));
  if (isNew) pairs_.push_back(pair);
  return known->second;
}

}  // namespace cacheline::sharing
