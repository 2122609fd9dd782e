// Making the letter box, waiting at it, reading it.
#include "heap/trace_box.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <ctime>

#include "base/error.h"
#include "base/unique_fd.h"

namespace cacheline::heap {
namespace {

TraceAct actOf(const trace_act& act) {
  const uint32_t frames = std::min(act.frames, HEAP_MAX_FRAMES);
  return {act.ns, act.tid, act.cpu, std::vector<uint64_t>(act.frame, act.frame + frames)};
}

}  // namespace

TraceBox::TraceBox(const std::string& folder, uint64_t least, uint64_t most) {
  const std::unique_ptr<char, decltype(&std::free)> absolute(::realpath(folder.c_str(), nullptr), &std::free);
  path_ = std::string(absolute ? absolute.get() : folder.c_str()) + "/trace.box";
  const UniqueFd fd(::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd)
    throw Error(ErrorKind::io, describeErrno("cannot create " + path_, errno),
                "Choose another output folder");
  if (const int errnum = ::posix_fallocate(fd.get(), 0, HEAP_PAGE); errnum != 0) {
    ::unlink(path_.c_str());
    throw Error(ErrorKind::io, describeErrno("cannot write " + path_, errnum),
                "Free space on that disk, or choose another output folder");
  }
  void* memory = ::mmap(nullptr, HEAP_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) {
    const int errnum = errno;
    ::unlink(path_.c_str());
    throw Error(ErrorKind::io, describeErrno("cannot map " + path_, errnum),
                "Choose an output folder on a local disk");
  }
  static_assert(sizeof(trace_box) <= HEAP_PAGE);
  box_ = static_cast<trace_box*>(memory);
  box_->version = TRACE_VERSION;
  box_->least = least;
  box_->most = most;
  box_->magic = TRACE_MAGIC;
}

TraceBox::~TraceBox() {
  ::munmap(box_, HEAP_PAGE);
  ::unlink(path_.c_str());
}

trace_state TraceBox::state() const {
  return static_cast<trace_state>(std::atomic_ref(box_->state).load(std::memory_order_acquire));
}

bool TraceBox::change(trace_state from, trace_state to) {
  uint32_t expected = from;
  if (!std::atomic_ref(box_->state).compare_exchange_strong(expected, to)) return false;
  ::syscall(SYS_futex, &box_->state, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  return true;
}

void TraceBox::wait(trace_state from, std::chrono::nanoseconds most) const {
  const auto ns = std::max<int64_t>(most.count(), 0);
  const timespec time{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  ::syscall(SYS_futex, &box_->state, FUTEX_WAIT, from, &time, nullptr, 0);
}

AskedBlock TraceBox::asked() const {
  return {box_->pid, box_->address, box_->size, actOf(box_->allocated)};
}

TraceAct TraceBox::freed() const {
  return actOf(box_->freed);
}

uint32_t TraceBox::stray() const {
  return std::atomic_ref(box_->stray).load(std::memory_order_relaxed);
}

uint32_t TraceBox::agents() const {
  return std::atomic_ref(box_->agents).load(std::memory_order_relaxed);
}

}  // namespace cacheline::heap
