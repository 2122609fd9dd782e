// A whole file mapped read-only.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace cacheline {

/// Read-only private mapping of a regular file. An empty file gives an empty span. A file truncated by
/// somebody else while mapped raises SIGBUS on access, as with any mmap; inputs are opened when they are
/// complete.
class MappedFile {
 public:
  /// Throws Error(unreadable) naming the path and the reason.
  static MappedFile open(const std::string& path);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  std::string path_;
};

}  // namespace cacheline
