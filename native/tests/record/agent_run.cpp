// The least that a recorder does with a source, for the tests of the agent alone.
#include "agent_run.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "perfdata/writer.h"
#include "record/child_process.h"

namespace cacheline::record::test {
namespace {

pid_t start(const std::vector<std::string>& command, const std::vector<std::string>& environment,
            const std::string& output) {
  std::vector<char*> arguments, variables;
  for (const std::string& text : command) arguments.push_back(const_cast<char*>(text.c_str()));
  for (const std::string& text : environment) variables.push_back(const_cast<char*>(text.c_str()));
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, 0);
    ::close(null);
    ::dup2(out, 1);
    ::dup2(out, 2);
    ::execve(arguments[0], arguments.data(), variables.data());
    ::_exit(127);
  }
  ::close(out);
  return pid;
}

int statusOf(int ending) {
  return WIFEXITED(ending) ? WEXITSTATUS(ending) : 128 + WTERMSIG(ending);
}

}  // namespace

void AgentRun::run(const TemporaryFolder& folder, const std::vector<std::string>& command) {
  const std::string out = folder.file("out");
  std::filesystem::create_directories(out);
  const auto source = openAgent({CACHELINE_SAMPLER, out, frequency, false});
  const auto writer = perfdata::Writer::create(out + "/perf.data", source->events());
  const auto drain = [&] {
    return source->drain([&](std::span<const uint8_t> records) {
      writer->append(records);
      writer->finishedRound();
      writer->flush();
    });
  };
  const std::string text = folder.file("output");
  const pid_t pid = start(command, source->environment(mergedEnvironment({})), text);
  int ending = 0;
  while (::waitpid(pid, &ending, WNOHANG) == 0) {
    drain();
    if (meanwhile) meanwhile();
    ::usleep(5000);
  }
  source->disable();
  while (drain()) continue;
  writer->finish({});
  status = statusOf(ending);
  output = readFile(text);
  warnings = source->warnings();
  recorded = std::make_unique<Recorded>(out);
}

const char* const kAgentProgramHead = R"(
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
extern char** environ;
static volatile long sink;
static double used(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
static void burn(double seconds) {
  const double until = used(CLOCK_THREAD_CPUTIME_ID) + seconds;
  while (used(CLOCK_THREAD_CPUTIME_ID) < until)
    for (int i = 0; i < 20000; i++) sink++;
}
)";

Alone::Alone(const std::vector<std::string>& command) {
  const TemporaryFolder folder;
  int ending = 0;
  ::waitpid(start(command, mergedEnvironment({}), folder.file("output")), &ending, 0);
  status = statusOf(ending);
  output = readFile(folder.file("output"));
}

void expectSameOf(const TemporaryFolder& folder, AgentRun& run, const std::vector<std::string>& command) {
  const Alone alone(command);
  run.run(folder, command);
  EXPECT_EQ(run.output, alone.output);
  EXPECT_EQ(run.status, alone.status);
  EXPECT_GT(run.recorded->samples, 0u);
}

void expectSame(const TemporaryFolder& folder, AgentRun& run, const std::string& source,
                const std::vector<std::string>& arguments, const std::string& flags) {
  std::vector<std::string> command{compile(folder, "program", kAgentProgramHead + source, flags)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  expectSameOf(folder, run, command);
}

}  // namespace cacheline::record::test
