// Names of data addresses.
#include "analysis/data_names.h"

#include <algorithm>
#include <cstdio>

namespace cacheline::analysis {

namespace {

constexpr uint64_t kStackTop = 0x7ffffffff000;         // TASK_SIZE of x86-64 with 4-level paging
constexpr uint64_t kStackRandomisation = 16ull << 30;  // STACK_RND_MASK << PAGE_SHIFT
constexpr uint64_t kStackSize = 8ull << 20;            // the usual RLIMIT_STACK
constexpr uint64_t kBelowStackPointer = 64 * 1024;     // probes and red zones
constexpr uint64_t kRedZone = 128;
constexpr uint64_t kPage = 4096;
// The program break starts at most 1 GiB above .bss (arch_randomize_brk); the rest is for .bss itself.
constexpr uint64_t kBreakRange = 1280ull << 20;
constexpr int kOwnerSearch = 4;  // mappings looked at below an anonymous one

std::string hex(uint64_t value) {
  char buffer[20];
  std::snprintf(buffer, sizeof buffer, "0x%llx", static_cast<unsigned long long>(value));
  return buffer;
}

/// ELF address of a place behind a segment's file bytes but inside its memory (.bss). `fileOffset` goes on
/// counting from the segment's file mapping. In that mapping itself (not `beyondFile`), only the rest of its
/// last page is .bss: other offsets behind the file bytes are other parts of the file. A debug file alone
/// does not say where .bss begins: there all of the segment's memory counts. Linkers pad the memory of a
/// read-only-after-relocation segment (lld), over the file bytes of the next one: the last that fits is it.
bool bssAddress(const symbols::ElfImage& image, uint64_t fileOffset, bool beyondFile, uint64_t& address) {
  const symbols::Segment* nearest = nullptr;
  for (const symbols::Segment& segment : image.segments()) {
    if (!segment.writable || fileOffset < segment.fileOffset) continue;
    if (nearest != nullptr && segment.fileOffset < nearest->fileOffset) continue;
    const uint64_t offset = fileOffset - segment.fileOffset;
    const uint64_t fileBytes = image.isDebugOnly() ? 0 : segment.fileSize;
    if (offset < fileBytes || offset >= segment.memorySize) continue;
    const uint64_t pageEnd = (segment.fileOffset + segment.fileSize + kPage - 1) / kPage * kPage;
    if (!beyondFile && fileOffset >= pageEnd) continue;
    nearest = &segment;
    address = segment.address + offset;
  }
  return nearest != nullptr;
}

/// Variables in functions of C: gcc and the assembler number them (`calls.0`), clang puts the function in
/// front.
bool isCompilersName(const symbols::Symbol& symbol) {
  return symbol.local && symbol.name.find('.') != std::string_view::npos;
}

}  // namespace

bool isMainStack(const AddressSpace& space, uint64_t address, const Registers& registers) {
  if (space.top == 0 || address < space.top || address >= kStackTop) return false;
  if (registers.has(kRegSp)) {
    const uint64_t sp = registers.value[kRegSp];
    if (sp >= space.top && address + kBelowStackPointer >= sp && address < sp + kStackSize) return true;
  }
  return address >= kStackTop - kStackRandomisation - kStackSize;
}

bool isOwnStack(const Mapping& mapping, uint64_t address, const Registers& registers) {
  if (!registers.has(kRegSp)) return false;
  const uint64_t sp = registers.value[kRegSp];
  return mapping.contains(sp) && address + kRedZone >= sp && address - sp + kRedZone < kStackSize + kRedZone;
}

uint32_t DataNames::regionOf(const AddressSpace& space, const Mapping* mapping, uint64_t lineAddress) {
  const Key key = mapping == nullptr ? Key{0, 0, space.id, kNone}
                                     : Key{mapping->origin, mapping->end, space.id, mapping->backing};
  const auto [it, added] = index_.try_emplace(key, static_cast<uint32_t>(regions_.size()));
  if (!added) {
    Region& known = regions_[it->second];
    if (mapping == nullptr) known.origin = std::min(known.origin, lineAddress);
    return it->second;
  }
  Region region;
  if (mapping == nullptr) {
    region.origin = lineAddress;
  } else {
    region.backing = mapping->backing;
    region.origin = mapping->origin;
    region.pageOffset = mapping->pageOffset;
    const Backing& backing = timeline_.backing(mapping->backing);
    region.file = !backing.shared && backing.namesFile();
    region.heap =
        backing.name == "[heap]" || (backing.anonymous() && !backing.shared && space.programEnd != 0 &&
                                     mapping->origin - space.programEnd < kBreakRange);
    if (backing.anonymous() || region.heap) {
      const Mapping* below = space.mappings->before(mapping->start);
      for (int i = 0; i < kOwnerSearch && below != nullptr; ++i) {
        const Backing& candidate = timeline_.backing(below->backing);
        if (!candidate.shared && candidate.namesFile()) {
          region.owner = below->backing;
          region.ownerOrigin = below->origin;
          region.ownerPageOffset = below->pageOffset;
          break;
        }
        below = space.mappings->before(below->start);
      }
    }
  }
  regions_.push_back(region);
  return it->second;
}

const symbols::ElfImage* DataNames::imageAt(uint32_t backing, uint64_t fileOffset, bool beyondFile,
                                            NamedData& named) {
  const uint32_t binary = binaries_.of(timeline_.backing(backing));
  const symbols::ElfImage* image = binary == kNone ? nullptr : binaries_.image(binary);
  if (image == nullptr) return nullptr;
  uint64_t address = 0;
  if ((beyondFile || !binaries_.elfAddress(binary, fileOffset, address)) &&
      !bssAddress(*image, fileOffset, beyondFile, address))
    return nullptr;
  named.binary = binary;
  named.elfAddress = address;
  return image;
}

bool DataNames::isNamed(uint32_t index, uint64_t address, uint64_t bytes) {
  if (!hasSymbols(index)) return false;
  const auto [known, isNew] = named_.try_emplace({address, bytes, index}, false);
  if (isNew) known.value() = namesAll(regions_[index], address, bytes);
  return known->second;
}

bool DataNames::namesAll(const Region& region, uint64_t address, uint64_t bytes) {
  NamedData place;
  const uint64_t offset = address - region.origin + region.pageOffset;
  const symbols::ElfImage* image = imageAt(region.backing, offset, false, place);
  for (uint64_t word = 0; image != nullptr && word < bytes; word += sizeof(uint64_t))
    if (image->dataAt(place.elfAddress + word) == nullptr) return false;
  return image != nullptr;
}

bool DataNames::variable(uint32_t backing, uint64_t fileOffset, bool beyondFile, NamedData& named) {
  const symbols::ElfImage* image = imageAt(backing, fileOffset, beyondFile, named);
  if (image == nullptr) return false;
  const uint64_t address = named.elfAddress;
  symbols::Module& module = binaries_.module(named.binary);
  const symbols::Symbol* symbol = image->dataAt(address);
  const auto described = module.variableAt(address);
  if (described && !described->file.empty()) named.name.definition = Place{described->file, described->line};
  if (symbol != nullptr) {
    const bool asInSource = isCompilersName(*symbol) && described && described->address == symbol->address;
    named.name.object = asInSource ? described->name : symbols::demangle(symbol->name);
    named.name.offset = address - symbol->address;
    if (symbol->size > 0) named.name.variableBytes = symbol->size;
  } else if (described) {
    named.name.object = described->name;
    named.name.offset = address - described->address;
    if (described->size > 0) named.name.variableBytes = described->size;
  } else {
    return false;
  }
  named.symbol = true;
  return true;
}

NamedData DataNames::name(uint32_t index, bool stack, const std::optional<StackOwner>& owner,
                          uint64_t address, uint64_t position) {
  const Region& region = regions_[index];
  NamedData named;
  named.address = address;
  named.name.offset = address - region.origin;
  if (region.backing == kNone) {
    named.name.object = "[stack]";
    named.name.stackOwner = owner;
    return named;
  }
  const Backing& backing = timeline_.backing(region.backing);
  if (backing.shared) {
    named.name.offset = position;
  } else if (region.owner != kNone) {
    if (variable(region.owner, address - region.ownerOrigin + region.ownerPageOffset, true, named))
      return named;
  } else if (!backing.anonymous()) {
    if (variable(region.backing, address - region.origin + region.pageOffset, false, named)) return named;
  }
  if (named.binary != kNone) {
    named.name.object = binaries_.baseName(named.binary);  // no symbol covers it
  } else if (backing.anonymous()) {
    named.name.object = region.heap      ? "[heap]"
                        : stack || owner ? "[stack]"
                                         : "anonymous " + hex(region.origin);
  } else if (!backing.namesFile()) {
    named.name.object = backing.name.starts_with("/dev/zero") ? kSharedMemory : backing.name;
  } else {
    named.name.object = backing.name.substr(backing.name.rfind('/') + 1);
  }
  if (named.name.object == "[stack]") named.name.stackOwner = owner;
  return named;
}

bool DataNames::isGo(const AddressSpace& space) {
  if (space.program == kNone) return false;
  const auto [known, isNew] = mixes_.try_emplace(space.program, false);
  if (isNew) {
    const uint32_t binary = binaries_.of(timeline_.backing(space.program));
    const symbols::ElfImage* image = binary == kNone ? nullptr : binaries_.image(binary);
    known.value() = image != nullptr && image->section(".go.buildinfo").has_value();
  }
  return known.value();
}

const std::string& DataNames::mapping(uint32_t index) const {
  static const std::string stack = "[stack]", heap = "[heap]", none;
  if (index == kNone) return none;
  if (regions_[index].heap) return heap;
  return regions_[index].backing == kNone ? stack : timeline_.backing(regions_[index].backing).name;
}

}  // namespace cacheline::analysis
