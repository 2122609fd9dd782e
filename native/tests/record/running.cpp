// Starting and ending of programs beside the test.
#include "running.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "record/procfs.h"
#include "support.h"

namespace cacheline::record::test {
void waitForExec(pid_t process) {
  const std::string ours = std::filesystem::canonical("/proc/self/exe").string() + "\n";
  const std::string folder = "/proc/" + std::to_string(process);
  // The vdso is mapped behind the program and its loader; between theirs and ours nothing is, for a moment.
  waitFor("program in process " + std::to_string(process), [&] {
    const std::string maps = readFile(folder + "/maps");
    return (!contains(maps, ours) && contains(maps, "[vdso]")) ||
           contains(readFile(folder + "/status"), "State:\tZ");  // its first thread, at least, has ended
  });
}

Running::Running(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& text : command) arguments.push_back(const_cast<char*>(text.c_str()));
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  waitForExec(pid_);
}

Running::~Running() {
  if (reaped_) return;
  ::kill(pid_, SIGKILL);
  wait();
}

bool Running::alive() const {
  siginfo_t info{};
  return !reaped_ && ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

void Running::waitForThreads(size_t count) const {
  waitFor("process " + std::to_string(pid_) + " with " + std::to_string(count) + " threads",
          [&] { return threadsOf(pid_).size() == count; });
}

int Running::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  reaped_ = true;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace cacheline::record::test
