// Reading of control commands.
#include "record/control_fifo.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/error.h"

namespace cacheline::record {
namespace {

constexpr size_t kLongestLine = 256, kShownOfLine = 32;

UniqueFd openFifo(const std::string& path) {
  // For reading and writing: the other end may come, go and come again.
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0)
    throw Error(ErrorKind::usage, describeErrno("cannot open the control FIFO " + path, errno),
                "Make it first: mkfifo " + path);
  if (!S_ISFIFO(info.st_mode))
    throw Error(ErrorKind::usage, "the control file " + path + " is not a FIFO", "Make one: mkfifo NAME");
  return fd;
}

bool isSame(int a, int b) {
  struct stat first {
  }, second{};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

std::optional<ControlChannel::Command> commandOf(const std::string& line) {
  using Command = ControlChannel::Command;
  if (line == "enable") return Command::enable;
  if (line == "disable") return Command::disable;
  if (line == "stop") return Command::stop;
  if (line == "ping") return Command::ping;
  return std::nullopt;
}

}  // namespace

ControlChannel::ControlChannel(const ControlFifo& fifos) : commands_(openFifo(fifos.command)) {
  if (fifos.acknowledge.empty()) return;
  acknowledgements_ = openFifo(fifos.acknowledge);
  if (isSame(commands_.get(), acknowledgements_.get()))
    throw Error(
        ErrorKind::usage,
        fifos.command + " and " + fifos.acknowledge + " are the same FIFO: answers would be read as commands",
        "Make another one for the answers: mkfifo NAME");
}

std::vector<ControlChannel::Command> ControlChannel::read(std::vector<std::string>& warnings) {
  std::vector<Command> commands;
  std::array<char, 256> buffer;
  for (ssize_t count; (count = ::read(commands_.get(), buffer.data(), buffer.size())) > 0;) {
    for (ssize_t i = 0; i < count; i++) {
      if (buffer[i] != '\n' && buffer[i] != '\0') {
        if (line_.size() < kLongestLine) line_ += buffer[i];
        continue;
      }
      const std::optional<Command> command = commandOf(line_);
      if (command) {
        commands.push_back(*command);
      } else if (!line_.empty() && !warned_) {
        warned_ = true;
        warnings.push_back("the control command '" + line_.substr(0, kShownOfLine) +
                           (line_.size() > kShownOfLine ? "..." : "") +
                           "' is not one of enable, disable, stop and ping");
      }
      line_.clear();
    }
  }
  return commands;
}

void ControlChannel::acknowledge() const {
  // Nobody reads: the FIFO is full, and who does not read answers needs none.
  static constexpr char kAcknowledged[] = "ack\n";
  while (acknowledgements_ && ::write(acknowledgements_.get(), kAcknowledged, sizeof kAcknowledged - 1) < 0 &&
         errno == EINTR) {
  }
}

}  // namespace cacheline::record
