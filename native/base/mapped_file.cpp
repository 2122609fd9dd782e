// mmap of whole files.
#include "base/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/unique_fd.h"

namespace cacheline {

/// The handler may interrupt any code, so that it takes no lock: these are never freed, only used again.
struct MappedFile::Watched {
  std::atomic<uintptr_t> begin{0}, end{0};  ///< begin 0: of no file
  std::atomic<bool> lostBytes{false};
  Watched* next = nullptr;  ///< older

  static inline std::atomic<Watched*> newest{nullptr};
  static inline std::mutex mutex;  ///< of those who take and give back
  static inline struct sigaction before {};

  static Watched* take(const uint8_t* data, size_t size) {
    const std::lock_guard lock(mutex);
    if (newest == nullptr) handleSignal();
    Watched* free = newest;
    while (free != nullptr && free->begin != 0) free = free->next;
    if (free == nullptr) {
      free = new Watched;
      free->next = newest;
      newest = free;
    }
    free->lostBytes = false;
    free->end = reinterpret_cast<uintptr_t>(data) + size;
    free->begin = reinterpret_cast<uintptr_t>(data);
    return free;
  }
  void giveBack() {
    const std::lock_guard lock(mutex);
    begin = 0;
  }

 private:
  static void handleSignal() {
    struct sigaction action {};
    action.sa_sigaction = onSignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(SIGBUS, &action, &before);
  }
  static void onSignal(int signal, siginfo_t* info, void*) {
    const auto at = reinterpret_cast<uintptr_t>(info->si_addr);
    for (Watched* file = info->si_code > 0 ? newest.load() : nullptr; file != nullptr; file = file->next)
      if (const uintptr_t fileBegin = file->begin, fileEnd = file->end;
          fileBegin != 0 && at >= fileBegin && at < fileEnd && file->replace(at, fileEnd))
        return;
    // Whoever was here before us has it when the access is tried again.
    ::sigaction(SIGBUS, &before, nullptr);
    if (info->si_code <= 0) ::raise(signal);
  }
  /// What is gone at `at` is gone from its page on: zeros instead.
  bool replace(uintptr_t at, uintptr_t fileEnd) {
    const uintptr_t page = at & ~(static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE)) - 1);
    void* const zeros = ::mmap(reinterpret_cast<void*>(page), fileEnd - page, PROT_READ,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (zeros == MAP_FAILED) return false;
    lostBytes = true;
    return true;
  }
};

MappedFile MappedFile::open(const std::string& path) {
  // O_NONBLOCK: a FIFO in the place of a file must not hang us; for regular files it means nothing.
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) throw Error(ErrorKind::unreadable, describeErrno("cannot open " + path, errno));
  MappedFile file;
  if (::fstat(fd.get(), &file.opened_) != 0)
    throw Error(ErrorKind::unreadable, describeErrno("cannot stat " + path, errno));
  if (!S_ISREG(file.opened_.st_mode)) throw Error(ErrorKind::unreadable, path + " is not a regular file");
  file.path_ = path;
  file.size_ = static_cast<size_t>(file.opened_.st_size);
  if (file.size_ == 0) return file;
  void* data = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (data == MAP_FAILED) {
    file.size_ = 0;
    throw Error(ErrorKind::unreadable, describeErrno("cannot map " + path, errno));
  }
  file.data_ = static_cast<const uint8_t*>(data);
  file.watched_ = Watched::take(file.data_, file.size_);
  return file;
}

bool MappedFile::wasWritten() const {
  struct stat now {};
  if (path_.empty() || ::stat(path_.c_str(), &now) != 0) return false;
  return now.st_dev == opened_.st_dev && now.st_ino == opened_.st_ino &&
         (now.st_size != opened_.st_size || now.st_mtim.tv_sec != opened_.st_mtim.tv_sec ||
          now.st_mtim.tv_nsec != opened_.st_mtim.tv_nsec);
}

bool MappedFile::lostBytes() const {
  return watched_ != nullptr && watched_->lostBytes;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      path_(std::move(other.path_)),
      watched_(std::exchange(other.watched_, nullptr)),
      opened_(other.opened_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(path_, other.path_);
  std::swap(watched_, other.watched_);
  std::swap(opened_, other.opened_);
  return *this;
}

MappedFile::~MappedFile() {
  if (watched_ != nullptr) watched_->giveBack();
  // In pieces: meanwhile no other thread can map memory, and a large file takes some 20 ms.
  constexpr size_t kPiece = 16 << 20;
  for (size_t at = 0; at < size_; at += kPiece)
    ::munmap(const_cast<uint8_t*>(data_) + at, std::min(kPiece, size_ - at));
}

}  // namespace cacheline
