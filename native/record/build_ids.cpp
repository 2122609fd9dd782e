// Build ids of mapped files.
#include "record/build_ids.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cstring>

#include "record/procfs.h"
#include "symbols/elf_image.h"

namespace cacheline::record {
namespace {

/// PERF_RECORD_MMAP2 without build id, up to its file name (linux/perf_event.h).
struct Mmap2 {
  perf_event_header header;
  uint32_t pid, tid;
  uint64_t address, length, pageOffset;
  uint32_t major, minor;
  uint64_t inode, inodeGeneration;
  uint32_t protection, flags;
};

bool isOlder(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

}  // namespace

void BuildIds::onMmap2(std::span<const uint8_t> record) {
  Mmap2 mmap;
  if (record.size() <= sizeof mmap) return;
  std::memcpy(&mmap, record.data(), sizeof mmap);
  const char* text = reinterpret_cast<const char*>(record.data()) + sizeof mmap;
  const std::string_view name(text, ::strnlen(text, record.size() - sizeof mmap));
  // "//anon", "[heap]" and the like are no files.
  if ((mmap.protection & PROT_EXEC) == 0 || !name.starts_with('/') || name.starts_with("//")) return;
  if (seen_.find(name) != seen_.end()) return;
  seen_.emplace(name);

  RecordedBinary binary;
  binary.path = std::string(name);
  binary.root = foreignRoot(static_cast<pid_t>(mmap.pid));
  const std::string file = binary.root + binary.path;
  struct stat info{};
  if (::stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  // Overlay and btrfs file systems report another device than stat(2) does: there a file that has not been
  // touched since the start tells as much.
  const bool same =
      info.st_ino == mmap.inode && major(info.st_dev) == mmap.major && minor(info.st_dev) == mmap.minor;
  if (!same && !isOlder(info.st_ctim, start_)) {
    replaced_.push_back(binary.path);
    return;
  }
  binary.buildId = symbols::readBuildId(file);
  binary.size = static_cast<uint64_t>(info.st_size);
  binary.mtimeNs = static_cast<int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec;
  binaries_.push_back(std::move(binary));
}

std::vector<perfdata::BuildIdEntry> BuildIds::entries() const {
  std::vector<perfdata::BuildIdEntry> entries;
  for (const RecordedBinary& binary : binaries_)
    if (!binary.buildId.empty()) entries.push_back({-1, binary.buildId, binary.path, false});
  return entries;
}

}  // namespace cacheline::record
