// The life of a program, and of what is attached to.
#include "record/subject.h"

#include <poll.h>
#include <signal.h>

#include <chrono>

#include "record/watch_threads.h"
#include "symbols/linked_files.h"

namespace cacheline::record {
namespace {

constexpr std::chrono::seconds kGrace{5};  // between SIGTERM and SIGKILL
constexpr int kLookMs = 200;               // where the kernel has no pidfd

}  // namespace

Subject::Subject(const RecordOptions& options) : options_(options) {
  if (!options.command.empty()) {
    environment_ = mergedEnvironment(options.environment);
    program_ = findProgram(options.command[0], options.workingDirectory, environment_);
    const auto files = [&] {
      return symbols::linkedFiles(
          program_->file, {valueIn(environment_, "LD_LIBRARY_PATH"), valueIn(environment_, "LD_PRELOAD"),
                           options.workingDirectory});
    };
    if (options.watch && options.watch->checkProgram) options.watch->checkProgram(files());
    if (options.trace) traced_ = options.trace->subject(files());
  } else if (options.target.kind != Target::Kind::system) {
    attached_.emplace(options.target);
    if (options.watch && options.watch->checkProcesses) options.watch->checkProcesses(processes());
  }
}

std::vector<std::string> Subject::warnings(const std::string& machine) const {
  if (program_) return programWarnings(*program_, machine);
  return attached_ ? attached_->warnings() : std::vector<std::string>();
}

void Subject::hold(const std::vector<std::string>& environment) {
  child_.reset();
  child_ = std::make_unique<ChildProcess>(ChildSetup{program_->path, options_.command, environment,
                                                     options_.workingDirectory, options_.stdoutFd,
                                                     options_.stderrFd, options_.stdinFromNull});
}

Target Subject::target() const {
  Target target = options_.target;
  if (child_ && target.kind == Target::Kind::command) target.ids = {child_->pid()};
  if (attached_) target.ids = attached_->ids();
  return target;
}

void Subject::start() {
  if (!child_) return;
  if (const std::optional<StartFailure> failure = child_->start())
    throw startError(*program_, *failure, options_.workingDirectory);
}

std::vector<int> Subject::wakeups() const {
  if (child_) return {child_->pidfd()};
  return attached_ ? attached_->wakeups() : std::vector<int>();
}

bool Subject::ended() {
  if (child_) return (ending_ = child_->poll()).has_value();
  return attached_ && attached_->ended();
}

std::vector<pid_t> Subject::processes() const {
  const std::vector<pid_t> own = child_ ? std::vector<pid_t>{child_->pid()} : attachedTo();
  return options_.target.children ? withDescendants(own) : own;
}

std::vector<pid_t> Subject::attachedTo() const {
  return attached_ ? attached_->processes() : std::vector<pid_t>();
}

double Subject::cpuSeconds() {
  if (attached_) return attached_->cpuSeconds();
  return ending_ ? ending_->cpuSeconds : 0;
}

void Subject::end() {
  if (!child_) return;
  child_->kill(SIGTERM);
  const auto deadline = std::chrono::steady_clock::now() + kGrace;
  pollfd waiting{child_->pidfd(), POLLIN, 0};
  while (!(ending_ = child_->poll())) {
    if (std::chrono::steady_clock::now() >= deadline) {
      child_->kill(SIGKILL);
      ending_ = child_->wait();
      return;
    }
    ::poll(&waiting, 1, kLookMs);
  }
}

}  // namespace cacheline::record
