// Goroutines by the register that holds them.
#include "analysis/goroutines.h"

#include <cstring>

namespace cacheline::analysis {

namespace {

constexpr uint64_t kAlignment = 8;

// .go.buildinfo: 14 bytes of magic, the size of a pointer, flags. Since Go 1.18 the version stands behind it
// and not behind pointers; 1.17 was the first with ABIInternal.
constexpr char kMagic[] = "\xff Go buildinf:";
constexpr size_t kMagicSize = sizeof(kMagic) - 1, kFlagsAt = 15;
constexpr uint8_t kInline = 2;

}  // namespace

bool Goroutines::keepsGoroutine(uint32_t binary) {
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

/// kNone: no address. Assembly of Go's library may use r14 for something else.
uint32_t Goroutines::indexOf(uint64_t goroutine, const AddressSpace& space) {
  const auto [known, isNew] = indices_.try_emplace({goroutine, space.id}, kNone);
  if (isNew && goroutine % kAlignment == 0 && space.mappings->find(goroutine) != nullptr)
    known.value() = kFirst + static_cast<uint32_t>(indices_.size());
  return known->second;
}

void Goroutines::add(Touch touch, uint32_t reached, const AddressSpace& space, uint32_t code,
                     const Registers& registers) {
  if (registers.has(kRegR14) && keepsGoroutine(code))
    if (const uint32_t index = indexOf(registers.value[kRegR14], space); index != kNone) touch.thread = index;
  bool created = false;
  if (reached == 0)
    table_.add(touch, created);
  else
    table_.reach(touch, reached, created);
}

}  // namespace cacheline::analysis
