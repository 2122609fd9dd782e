// mmap of whole files.
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/unique_fd.h"

namespace cacheline {

MappedFile MappedFile::open(const std::string& path) {
  // O_NONBLOCK: a FIFO in the place of a file must not hang us; for regular files it means nothing.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) throw Error(ErrorKind::unreadable, describeErrno("cannot open " + path, errno));
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0)
    throw Error(ErrorKind::unreadable, describeErrno("cannot stat " + path, errno));
  if (!S_ISREG(st.st_mode)) throw Error(ErrorKind::unreadable, path + " is not a regular file");
  MappedFile file;
  file.path_ = path;
  file.size_ = static_cast<size_t>(st.st_size);
  if (file.size_ == 0) return file;
  void* data = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) {
    file.size_ = 0;
    throw Error(ErrorKind::unreadable, describeErrno("cannot map " + path, errno));
  }
  file.data_ = static_cast<const uint8_t*>(data);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      path_(std::move(other.path_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(path_, other.path_);
  return *this;
}

MappedFile::~MappedFile() {
  // In pieces: meanwhile no other thread can map memory, and a large file takes some 20 ms.
  constexpr size_t kPiece = 16 << 20;
  for (size_t at = 0; at < size_; at += kPiece)
    ::munmap(const_cast<uint8_t*>(data_) + at, std::min(kPiece, size_ - at));
}

}  // namespace cacheline
