// Starting and ending of programs beside the test.
#include "running.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <sstream>

#include "record/procfs.h"

namespace cacheline::record::test {
namespace {

/// proc_pid_stat(5): utime and stime are the 12th and 13th field behind the name.
double cpuSecondsOf(pid_t process, pid_t thread) {
  const std::string text =
      readFile("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/stat");
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string skipped;
  for (int i = 0; i < 11; i++) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

RecordOptions attachTo(const TemporaryFolder& folder, std::vector<pid_t> ids, Target::Kind kind) {
  RecordOptions options = optionsFor(folder, {});
  options.target.kind = kind;
  options.target.ids = std::move(ids);
  return options;
}

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

CpuTimes::CpuTimes(pid_t process) : process_(process) {
  for (const pid_t thread : threadsOf(process))
    if (thread != process) atFirst_[thread] = cpuSecondsOf(process, thread);
}

double CpuTimes::least() const {
  double least = std::numeric_limits<double>::max();
  for (const auto& [thread, atFirst] : atFirst_)
    least = std::min(least, cpuSecondsOf(process_, thread) - atFirst);
  return least;
}

}  // namespace cacheline::record::test
