// The reading end of the program's output.
#include "addon/output_capture.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/error.h"

namespace cacheline::addon {
namespace {

constexpr size_t kKeptBytes = size_t{1} << 20;
constexpr int kPollMs = 100;

}  // namespace

OutputCapture::OutputCapture() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(ErrorKind::impossible, describeErrno("cannot make a pipe for the program's output", errno));
  read_.reset(ends[0]);
  write_.reset(ends[1]);
  // Only our end: the program's must stay blocking.
  ::fcntl(read_.get(), F_SETFL, O_NONBLOCK);
  thread_ = std::thread([this] { readUntilEnd(); });
}

OutputCapture::~OutputCapture() {
  finish();
}

std::string OutputCapture::take() {
  const std::lock_guard lock(mutex_);
  std::string text = std::exchange(text_, {});
  if (dropped_ > 0)
    text += "\n[" + std::to_string(std::exchange(dropped_, 0)) + " bytes of output left out]\n";
  return text;
}

void OutputCapture::finish() {
  write_.reset();
  ending_ = true;
  if (thread_.joinable()) thread_.join();
}

void OutputCapture::readUntilEnd() {
  std::array<char, 16384> buffer;
  pollfd waiting{read_.get(), POLLIN, 0};
  while (true) {
    const ssize_t count = ::read(read_.get(), buffer.data(), buffer.size());
    if (count > 0) {
      const std::lock_guard lock(mutex_);
      const size_t kept = std::min(static_cast<size_t>(count), kKeptBytes - text_.size());
      text_.append(buffer.data(), kept);
      dropped_ += static_cast<size_t>(count) - kept;
      continue;
    }
    if (count == 0) return;
    if (errno != EAGAIN && errno != EINTR) return;
    if (ending_) return;
    ::poll(&waiting, 1, kPollMs);
  }
}

}  // namespace cacheline::addon
