// The search order is that of the GNU tools: build id first, then the debug link; debuginfod last.
#include "symbols/debug_files.h"

#include <sys/stat.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/mapped_file.h"

namespace cacheline::symbols {
namespace {

namespace fs = std::filesystem;

struct DebugLink {
  std::string name;
  uint32_t crc = 0;
};

/// .gnu_debuglink: a NUL-terminated file name, padding to 4 bytes, the CRC-32 of that file.
std::optional<DebugLink> readDebugLink(const ElfFile& file) {
  const ElfSection* section = file.section(".gnu_debuglink");
  if (section == nullptr) return std::nullopt;
  DebugLink link{std::string(stringAt(section->bytes, 0)), 0};
  const Bytes crc = clippedSlice(section->bytes, (link.name.size() + 1 + 3) / 4 * 4, 4);
  // A name with a folder in it is not one that objcopy writes, and could lead anywhere.
  if (link.name.empty() || link.name.find('/') != std::string::npos || crc.size() != 4) return std::nullopt;
  link.crc = file.format.word<uint32_t>(crc.data());
  return link;
}

class Search {
 public:
  Search(const ElfImage& image, const ElfFile& file, const std::string& recordedPath, SymbolSearch& where)
      : image_(image), file_(file), recordedPath_(recordedPath), where_(where) {}

  DebugFile run() {
    for (const std::string& path : buildIdCandidates())
      if (consider(path, std::nullopt)) return std::move(found_);
    if (const auto link = readDebugLink(file_))
      for (const std::string& path : linkCandidates(link->name))
        if (consider(path, link->crc)) return std::move(found_);
    if (image_.buildId().empty()) return std::move(found_);
    const auto fetched = where_.fetch(Debuginfod::Kind::debugInfo, image_.buildId(), recordedPath_);
    if (!fetched.path.empty() && consider(fetched.path, std::nullopt)) return std::move(found_);
    if (!fetched.reason.empty()) refuse(fetched.reason);
    return std::move(found_);
  }

 private:
  std::vector<std::string> buildIdCandidates() const {
    const std::string& id = image_.buildId();
    if (id.size() < 4) return {};
    const std::string tail = "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2);
    std::vector<std::string> paths;
    for (const std::string& root : where_.debugRoots()) paths.push_back(root + tail + ".debug");
    if (const std::string cache = where_.cache(); !cache.empty())
      // A folder holding `debug` or `elf`; in old caches the file itself.
      for (const char* inside : {"/debug", "/elf", ""}) paths.push_back(cache + tail + inside);
    return paths;
  }

  std::vector<std::string> linkCandidates(const std::string& name) const {
    std::error_code ec;
    const fs::path real = fs::canonical(image_.path(), ec);
    std::vector<std::string> folders{(ec ? fs::path(image_.path()) : real).parent_path().string()};
    // A binary from a cache or from symfs has left its folder.
    if (std::string folder = fs::path(recordedPath_).parent_path().string(); folder != folders[0])
      folders.push_back(std::move(folder));
    std::vector<std::string> paths;
    for (const std::string& folder : folders) {
      paths.push_back(folder + "/" + name);
      paths.push_back(folder + "/.debug/" + name);
      for (const std::string& root : where_.debugRoots()) paths.push_back(root + folder + "/" + name);
    }
    return paths;
  }

  bool consider(const std::string& path, std::optional<uint32_t> crc) {
    std::error_code ec;
    if (!isRegularFile(path) || fs::equivalent(path, image_.path(), ec)) return false;
    try {
      auto candidate = ElfImage::open(path);
      if (!candidate->hasDebugInfo() && (image_.hasSymbolTable() || !candidate->hasSymbolTable()))
        return false;
      const std::string& id = candidate->buildId();
      if (crc ? !id.empty() && !image_.buildId().empty() && id != image_.buildId() : id != image_.buildId())
        return refuse("The debug file " + path + " belongs to another build: its build id is " +
                      (id.empty() ? "missing" : id) + ", the binary's is " + image_.buildId() + ".");
      if (crc) {
        const uint32_t actual = debugLinkCrc(MappedFile::open(path).bytes());
        if (actual != *crc)
          return refuse("The debug file " + path + " belongs to another build: its CRC-32 is " +
                        std::to_string(actual) + ", .gnu_debuglink of the binary says " +
                        std::to_string(*crc) + ".");
      }
      found_ = {std::move(candidate), {}};
      return true;
    } catch (const Error& error) {
      return refuse(std::string("The debug file cannot be used: ") + error.what() + ".");
    }
  }

  bool refuse(std::string reason) {
    if (found_.reason.empty()) found_.reason = std::move(reason);
    return false;
  }

  const ElfImage& image_;
  const ElfFile& file_;
  const std::string& recordedPath_;
  SymbolSearch& where_;
  DebugFile found_;
};

using CrcTables = std::array<std::array<uint32_t, 256>, 8>;

/// Table k advances a byte by k more zero bytes, so that eight bytes take one step ("slicing by 8").
constexpr CrcTables makeCrcTables() {
  CrcTables tables{};
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
    tables[0][i] = crc;
  }
  for (size_t k = 1; k < tables.size(); k++)
    for (size_t i = 0; i < 256; i++)
      tables[k][i] = (tables[k - 1][i] >> 8) ^ tables[0][tables[k - 1][i] & 0xff];
  return tables;
}
constexpr CrcTables kCrc = makeCrcTables();

}  // namespace

std::string findSupplement(const ElfFile& file, SymbolSearch& search) {
  const ElfSection* section = file.section(".gnu_debugaltlink");
  if (section == nullptr) return {};
  const std::string path(stringAt(section->bytes, 0));
  const Bytes id = clippedSlice(section->bytes, path.size() + 1, kLongestBuildId);
  return search.supplement(path, hex(id));
}

uint32_t debugLinkCrc(Bytes bytes) {
  uint32_t crc = ~0u;
  size_t at = 0;
  for (; bytes.size() - at >= 8; at += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; k++) crc ^= kCrc[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (; at < bytes.size(); at++) crc = (crc >> 8) ^ kCrc[0][(crc ^ bytes[at]) & 0xff];
  return ~crc;
}

DebugFile findDebugFile(const ElfImage& image, const ElfFile& file, const std::string& recordedPath,
                        SymbolSearch& search) {
  return Search(image, file, recordedPath, search).run();
}

}  // namespace cacheline::symbols
