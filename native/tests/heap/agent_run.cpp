// Running of programs for the tests of the agent.
#include "agent_run.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cacheline::heap::test {

const char* const kProgramHead = R"(
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static unsigned long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ul + t.tv_nsec;
}
static void say(unsigned long a, unsigned long b, unsigned long c) {
  char text[96];
  int size = snprintf(text, sizeof text, "%lu %lu %lu\n", a, b, c);
  if (write(1, text, size) != size) _exit(99);
}
#define ADDRESS(p) ((unsigned long)(p))
)";

AgentRun::AgentRun() {
  folder_ = std::filesystem::temp_directory_path() / "cacheline-agent-XXXXXX";
  if (::mkdtemp(folder_.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
}

AgentRun::~AgentRun() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string AgentRun::compile(const std::string& source, const std::string& flags, bool cxx,
                              const std::string& name) {
  const std::string text = file(name + (cxx ? ".cpp" : ".c")), program = file(name);
  std::ofstream(text) << source;
  runAlone(std::string(cxx ? CACHELINE_TEST_CXX : CACHELINE_TEST_CC) + " -pthread -w " + flags + " -o " +
           program + " " + text);
  EXPECT_EQ(status, 0) << output;
  return program;
}

void AgentRun::execute(const std::string& command, const std::vector<std::string>& environment) {
  output.clear();
  lines.clear();
  std::string prefix;
  for (const std::string& entry : environment) prefix += "'" + entry + "' ";
  FILE* pipe = ::popen(("{ " + (prefix.empty() ? "" : "env " + prefix) + command + "; } 2>&1").c_str(), "re");
  if (pipe == nullptr) return;
  std::array<char, 4096> buffer;
  for (size_t count; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    output.append(buffer.data(), count);
  const int ending = ::pclose(pipe);
  status = WIFEXITED(ending) ? WEXITSTATUS(ending) : 128 + WTERMSIG(ending);
  std::istringstream text(output);
  for (std::string line; std::getline(text, line);) {
    std::istringstream numbers(line);
    std::vector<uint64_t> values;
    for (std::string word; numbers >> word;) values.push_back(std::strtoull(word.c_str(), nullptr, 0));
    if (!values.empty()) lines.push_back(values);
  }
}

void AgentRun::runAlone(const std::string& command) {
  execute(command, {});
}

void AgentRun::run(const std::string& command) {
  const auto recording = RecordingFile::create(folder_, limits);
  execute(command, recording->preload(CACHELINE_HEAP_AGENT, {}));
  recording->tick();
  counts = recording->counts();
  heap = Allocations::open(folder_);
  ASSERT_NE(heap, nullptr);
  EXPECT_TRUE(heap->warnings().empty()) << heap->warnings()[0];
}

}  // namespace cacheline::heap::test
