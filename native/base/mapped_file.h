// A whole file mapped read-only.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <span>
#include <string>

namespace cacheline {

/// Read-only private mapping of a regular file. An empty file gives an empty span. Other programs may write
/// to the file meanwhile: its bytes may change between two looks at them. Where one cuts it, or a disk fails,
/// what is gone reads as zeros, and lostBytes() says so; the process handles SIGBUS for that, in mapped files
/// alone.
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
  /// Whether something was read that the file no longer has.
  bool lostBytes() const;
  /// Whether the path still names this file, and it was written to since it was opened.
  bool wasWritten() const;

 private:
  struct Watched;  ///< what the handler of SIGBUS knows
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  std::string path_;
  Watched* watched_ = nullptr;
  struct stat opened_ {};
};

}  // namespace cacheline
