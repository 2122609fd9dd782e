// Shared helpers of the recorder's tests.
#include "support.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace cacheline::record::test {

const char* const kSpin = R"(
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static volatile long counters[256];
static double seconds;
static double used(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}
static void* work(void* argument) {
  volatile long* counter = &counters[(long)argument];
  do
    for (int i = 0; i < 100000; i++) (*counter)++;
  while (used() < seconds);
  return 0;
}
int main(int argc, char** argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2;
  seconds = argc > 2 ? atof(argv[2]) : 1;
  pthread_t ids[256];
  for (long i = 0; i < threads; i++) pthread_create(&ids[i], 0, work, (void*)i);
  for (long i = 0; i < threads; i++) pthread_join(ids[i], 0);
  return 0;
}
)";

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "cacheline-record-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
  ::chmod(path_.c_str(), 0755);  // tests run as another user in it
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void writeFile(const std::string& path, const std::string& text, int mode) {
  std::ofstream(path) << text;
  ::chmod(path.c_str(), static_cast<mode_t>(mode));
}

std::string readFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

std::string compile(const TemporaryFolder& folder, const std::string& name, const std::string& source,
                    const std::string& flags) {
  const std::string program = folder.file(name);
  writeFile(program + ".c", source);
  const ShellResult result =
      shell(std::string(CACHELINE_TEST_CC) + " -pthread " + flags + " -o " + program + " " + program + ".c");
  EXPECT_EQ(result.status, 0) << result.output;
  return program;
}

RecordOptions optionsFor(const TemporaryFolder& folder, std::vector<std::string> command) {
  RecordOptions options;
  options.command = std::move(command);
  options.outputDirectory = folder.file("out");
  std::filesystem::create_directories(options.outputDirectory);
  return options;
}

RecordResult recordNow(const RecordOptions& options) {
  const std::atomic<bool> stop{false};
  return record(options, stop);
}

Recorded::Recorded(const std::string& folder) : reader(perfdata::Reader::open(folder + "/perf.data")) {
  reader->readAll(*this);
}
void Recorded::onSample(const perfdata::Sample& sample) {
  samples++;
  outOfOrder += sample.time < lastTime ? 1 : 0;
  lastTime = sample.time;
  // The stack pointer is never 0 and the instruction pointer is the sample's own.
  if (sample.registers.has(kRegSp) && sample.registers.value[kRegSp] != 0 && sample.registers.has(kRegR15) &&
      sample.registers.value[kRegIp] == sample.ip)
    withRegisters++;
  withCallchain += sample.callchain.size() > 1 ? 1 : 0;
  kernelSamples += (sample.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL ? 1 : 0;
  pids.insert(sample.pid);
  sampledTids.insert(sample.tid);
  cpus.insert(sample.cpu);
  samplesByComm[commOfTid[sample.tid]]++;
}
void Recorded::onMmap(const perfdata::Mmap& mmap) {
  mappedFiles.insert(std::string(mmap.file));
  dataMmaps += mmap.data ? 1 : 0;
}
void Recorded::onComm(const perfdata::Comm& comm) {
  commOfTid[comm.tid] = comm.name;
  if (comm.exec) execs.emplace_back(comm.name);
}
void Recorded::onFork(const perfdata::Task& task) {
  forks++;
  commOfTid[task.tid] = commOfTid[task.parentTid];
}
void Recorded::onExit(const perfdata::Task&) {
  exits++;
}
void Recorded::onLost(const perfdata::Lost& event) {
  lost += event.count;
}

std::string inForkedChild(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    std::string answer;
    try {
      answer = body();
    } catch (const std::exception& error) {
      answer = std::string("exception: ") + error.what();
    }
    const bool written =
        ::write(ends[1], answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string answer;
  std::array<char, 4096> buffer;
  for (ssize_t count; (count = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    answer.append(buffer.data(), static_cast<size_t>(count));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status == 0 ? answer : "crashed with status " + std::to_string(status) + ": " + answer;
}

ShellResult shell(const std::string& command) {
  ShellResult result;
  FILE* pipe = ::popen(("( " + command + " ) 2>&1").c_str(), "re");
  if (pipe == nullptr) return result;
  std::array<char, 4096> buffer;
  for (size_t count; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    result.output.append(buffer.data(), count);
  const int status = ::pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

bool perfIsInstalled() {
  return shell("perf --version").status == 0;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool anyContains(const std::vector<std::string>& texts, const std::string& part) {
  for (const std::string& text : texts)
    if (contains(text, part)) return true;
  return false;
}

bool waitFor(const std::string& what, const std::function<bool()>& done) {
  const auto last = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (!done()) {
    if (std::chrono::steady_clock::now() > last) {
      ADD_FAILURE() << "there is no " << what << " after two minutes";
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace cacheline::record::test
