// Format: System V gABI, "Compressed Sections": a header (Elf64_Chdr), then for ELFCOMPRESS_ZSTD zstd frames.
// GNU's: "ZLIB", the inflated size as eight bytes with the highest first, then a zlib stream.
#include "symbols/inflate.h"

#include <endian.h>
#include <gelf.h>
#include <zstd.h>

#include <cstring>
#include <new>
#include <string_view>

namespace cacheline::symbols {
namespace {

constexpr uint32_t kZlib = 1, kZstd = 2;  // newer than some elf.h
/// A block of zstd has at least 4 bytes and makes at most 128 KiB: larger sizes are a lie.
constexpr uint64_t kMostOfOneByte = (128 << 10) / 4;

/// Calls `each(section, header, compression)` for the compressed sections, until it returns false.
template <typename Each>
void forEachCompressed(Elf* elf, const Each& each) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    GElf_Chdr compression;
    if (gelf_getshdr(section, &header) != nullptr && (header.sh_flags & SHF_COMPRESSED) != 0 &&
        gelf_getchdr(section, &compression) != nullptr && !each(section, header, compression))
      return;
  }
}

}  // namespace

bool hasZstd(Elf* elf) {
  bool found = false;
  forEachCompressed(elf, [&](Elf_Scn*, const GElf_Shdr&, const GElf_Chdr& compression) {
    found = compression.ch_type == kZstd;
    return !found;
  });
  return found;
}

InflatedSections inflateZstd(Elf* elf) {
  InflatedSections all;
  forEachCompressed(elf, [&](Elf_Scn* section, GElf_Shdr& header, const GElf_Chdr& compression) {
    Elf_Data* data = elf_rawdata(section, nullptr);
    if (compression.ch_type != kZstd || data == nullptr || data->d_buf == nullptr) return true;
    const size_t before = gelf_fsize(elf, ELF_T_CHDR, 1, EV_CURRENT);
    if (data->d_size <= before || compression.ch_size / kMostOfOneByte > data->d_size) return true;
    std::unique_ptr<uint8_t[]> bytes(new (std::nothrow) uint8_t[compression.ch_size]);
    if (bytes == nullptr ||
        ZSTD_decompress(bytes.get(), compression.ch_size, static_cast<const uint8_t*>(data->d_buf) + before,
                        data->d_size - before) != compression.ch_size)
      return true;
    header.sh_flags &= ~static_cast<GElf_Xword>(SHF_COMPRESSED);
    header.sh_size = compression.ch_size;
    header.sh_addralign = compression.ch_addralign;
    if (gelf_update_shdr(section, &header) == 0) return true;
    // Whoever asks libelf for the bytes gets one of these two.
    for (Elf_Data* known : {data, elf_getdata(section, nullptr)}) {
      if (known == nullptr) continue;
      known->d_buf = bytes.get();
      known->d_size = compression.ch_size;
      known->d_type = ELF_T_BYTE;
    }
    all.push_back(std::move(bytes));
    return true;
  });
  return all;
}

std::optional<uint64_t> gnuInflatedSize(Elf_Scn* section) {
  constexpr std::string_view kMagic = "ZLIB";
  const Elf_Data* data = elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr || data->d_size < kMagic.size() + sizeof(uint64_t))
    return std::nullopt;
  const auto* bytes = static_cast<const char*>(data->d_buf);
  uint64_t size = 0;
  std::memcpy(&size, bytes + kMagic.size(), sizeof size);
  return std::string_view(bytes, kMagic.size()) == kMagic ? std::optional(be64toh(size)) : std::nullopt;
}

bool inflateZlib(Elf_Scn* section, bool isGnu) {
  GElf_Shdr header;
  if (gelf_getshdr(section, &header) == nullptr) return false;
  if (isGnu) return gnuInflatedSize(section) && elf_compress_gnu(section, 0, 0) >= 0;
  return (header.sh_flags & SHF_COMPRESSED) == 0 || elf_compress(section, 0, 0) >= 0;
}

std::string compressionProblem(Elf* elf) {
  std::string problem;
  size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return problem;
  forEachCompressed(elf, [&](Elf_Scn*, const GElf_Shdr& header, const GElf_Chdr& compression) {
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name == nullptr || std::strcmp(name, ".debug_info") != 0) return true;
    if (compression.ch_type == kZlib || compression.ch_type == kZstd)
      problem = std::string("its section .debug_info is compressed with ") +
                (compression.ch_type == kZlib ? "zlib" : "zstd") + ", and damaged";
    else
      problem = "its section .debug_info is compressed in an unknown way, number " +
                std::to_string(compression.ch_type) +
                "; objcopy --decompress-debug-sections can make a file that is not compressed";
    return false;
  });
  return problem;
}

}  // namespace cacheline::symbols
