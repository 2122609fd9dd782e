// fork, hold, exec, wait. The caller has other threads: between fork and exec only async-signal-safe calls
// (signal-safety(7)) are made, on memory prepared before the fork.
#include "record/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace cacheline::record {
namespace {

struct Pipe {
  UniqueFd readEnd, writeEnd;
};

Pipe makePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw Error(ErrorKind::impossible, describeErrno("cannot make a pipe", errno));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

/// What the child needs, in plain memory.
struct Prepared {
  const char* path;
  char* const* arguments;
  char* const* environment;
  const char* workingDirectory;  // null: unchanged
  int stdoutFd, stderrFd;
  bool stdinFromNull;
  int goRead, goWrite, failureWrite;
};

[[noreturn]] void failInChild(const Prepared& prepared, StartFailure::Step step) {
  const StartFailure failure{step, errno};
  // A pipe takes so few bytes at once or not at all; the parent treats a missing report as a death.
  const ssize_t written = ::write(prepared.failureWrite, &failure, sizeof failure);
  ::_exit(written == sizeof failure ? 127 : 126);
}

bool connectStreams(const Prepared& prepared) {
  // Copies first: the given descriptors may be 1 and 2 themselves.
  const int output = prepared.stdoutFd < 0 ? -1 : ::fcntl(prepared.stdoutFd, F_DUPFD_CLOEXEC, 3);
  const int error = prepared.stderrFd < 0 ? -1 : ::fcntl(prepared.stderrFd, F_DUPFD_CLOEXEC, 3);
  if (prepared.stdoutFd >= 0 && (output < 0 || ::dup2(output, 1) < 0)) return false;
  if (prepared.stderrFd >= 0 && (error < 0 || ::dup2(error, 2) < 0)) return false;
  if (prepared.stdinFromNull) {
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || ::dup2(null, 0) < 0) return false;
  }
  // Node marks its own standard streams close-on-exec (uv_disable_stdio_inheritance).
  for (int fd = 0; fd <= 2; fd++) ::fcntl(fd, F_SETFD, 0);
  return true;
}

[[noreturn]] void runChild(const Prepared& prepared) {
  struct sigaction byDefault {};
  byDefault.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; signal++) {
    // What our caller ignores stays ignored (nohup), but for SIGPIPE, which Node ignores for itself.
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN && signal != SIGPIPE) continue;
    ::sigaction(signal, &byDefault, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  ::close(prepared.goWrite);  // else our own copy would hide the parent's death
  char go = 0;
  ssize_t count = 0;
  do count = ::read(prepared.goRead, &go, 1);
  while (count < 0 && errno == EINTR);
  if (count != 1) ::_exit(126);

  if (!connectStreams(prepared)) failInChild(prepared, StartFailure::Step::standardStreams);
  if (prepared.workingDirectory != nullptr && ::chdir(prepared.workingDirectory) != 0)
    failInChild(prepared, StartFailure::Step::workingDirectory);
  ::execve(prepared.path, prepared.arguments, prepared.environment);
  failInChild(prepared, StartFailure::Step::exec);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

ChildProcess::ChildProcess(const ChildSetup& setup) {
  Pipe go = makePipe(), failure = makePipe();
  const std::vector<char*> arguments = pointers(setup.arguments), environment = pointers(setup.environment);
  const Prepared prepared{
      setup.path.c_str(),  arguments.data(),
      environment.data(),  setup.workingDirectory.empty() ? nullptr : setup.workingDirectory.c_str(),
      setup.stdoutFd,      setup.stderrFd,
      setup.stdinFromNull, go.readEnd.get(),
      go.writeEnd.get(),   failure.writeEnd.get()};
  // No signal may reach the child while it still has the caller's handlers.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_ = ::fork();
  if (pid_ == 0) runChild(prepared);
  const int errnum = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid_ < 0)
    throw Error(ErrorKind::impossible, describeErrno("cannot start a process", errnum),
                "Check the limit of processes: ulimit -u");
  go_ = std::move(go.writeEnd);
  goRead_ = std::move(go.readEnd);
  failure_ = std::move(failure.readEnd);
  pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
}

ChildProcess::~ChildProcess() {
  if (started_ || reaped_) return;
  ::kill(pid_, SIGKILL);
  wait();
}

std::optional<StartFailure> ChildProcess::start() {
  const char go = 1;
  ssize_t count = 0;
  do count = ::write(go_.get(), &go, 1);
  while (count < 0 && errno == EINTR);
  started_ = true;
  // The read end closes with the exec, or carries the failure.
  StartFailure failure;
  do count = ::read(failure_.get(), &failure, sizeof failure);
  while (count < 0 && errno == EINTR);
  go_.reset();
  goRead_.reset();
  failure_.reset();
  if (count != sizeof failure) return std::nullopt;
  wait();
  return failure;
}

std::optional<Ending> ChildProcess::poll() {
  return reap(WNOHANG);
}

Ending ChildProcess::wait() {
  return *reap(0);
}

std::optional<Ending> ChildProcess::reap(int flags) {
  if (reaped_) return Ending{};
  int status = 0;
  rusage usage{};
  pid_t pid = 0;
  do pid = ::wait4(pid_, &status, flags, &usage);
  while (pid < 0 && errno == EINTR);
  if (pid == 0) return std::nullopt;
  reaped_ = true;
  Ending ending;
  if (pid < 0) return ending;  // ECHILD: the caller ignores SIGCHLD or reaped it
  if (WIFEXITED(status)) ending.exitStatus = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  ending.cpuSeconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  return ending;
}

void ChildProcess::kill(int signal) {
  if (!reaped_) ::kill(pid_, signal);
}

std::vector<std::string> mergedEnvironment(const std::vector<std::string>& changes) {
  const auto nameOf = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  std::vector<std::string> merged;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; entry++) merged.emplace_back(*entry);
  for (const std::string& change : changes) {
    std::erase_if(merged, [&](const std::string& entry) { return nameOf(entry) == nameOf(change); });
    merged.push_back(change);
  }
  return merged;
}

std::string valueIn(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& entry : environment)
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  return {};
}

}  // namespace cacheline::record
