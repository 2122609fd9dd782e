// Starting, driving and reading.
#include "watch_run.h"

#include <fcntl.h>
#include <poll.h>
#include <rapidjson/document.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include "running.h"
#include "symbols/elf_image.h"

namespace cacheline::record::test {

WatchedProgram::WatchedProgram(const std::string& path, const std::vector<std::string>& arguments)
    : path_(path) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  std::vector<std::string> words{path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(ends[0], 0);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(ends[0]);
  input_.reset(ends[1]);
  waitForExec(pid_);
}

WatchedProgram::~WatchedProgram() {
  if (reaped_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void WatchedProgram::go() {
  EXPECT_EQ(::write(input_.get(), "\n", 1), 1);
}

bool WatchedProgram::ended() {
  if (!reaped_) reaped_ = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
  return reaped_;
}

uint64_t WatchedProgram::addressOf(const std::string& symbol) const {
  const auto image = symbols::ElfImage::open(path_);
  const auto address = image->addressOfSymbol(symbol);
  if (!address) throw std::runtime_error(path_ + " has no " + symbol);
  std::istringstream maps(readFile("/proc/" + std::to_string(pid_) + "/maps"));
  for (std::string line; std::getline(maps, line);) {
    if (!contains(line, path_)) continue;
    const uint64_t start = std::stoull(line, nullptr, 16);
    return image->segments().front().address == 0 ? start + *address : *address;
  }
  throw std::runtime_error(path_ + " is not mapped");
}

void drive(Watcher& watcher, const std::function<bool()>& done) {
  std::vector<pollfd> waiting;
  for (const int fd : watcher.wakeups()) waiting.push_back({fd, POLLIN, 0});
  for (const auto last = Watcher::Clock::now() + std::chrono::minutes(2); !done();) {
    if (Watcher::Clock::now() > last) throw std::runtime_error("what the test waits for did not come");
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(watcher.next() - Watcher::Clock::now());
    const auto timeout = std::clamp<int64_t>(left.count(), 0, 20);
    ::poll(waiting.data(), waiting.size(), static_cast<int>(timeout));
    watcher.tick();
  }
}

std::vector<WindowLine> windowLines(const std::string& folder) {
  std::vector<WindowLine> lines;
  std::istringstream text(readFile(folder + "/watch.jsonl"));
  for (std::string line; std::getline(text, line) && !text.eof();) {  // the last one may be being written
    rapidjson::Document json;
    json.Parse(line.c_str());
    if (!json.IsObject()) {
      ADD_FAILURE() << line;
      continue;
    }
    lines.push_back({std::stoull(json["address"].GetString(), nullptr, 16), json["start"].GetUint64(),
                     json["end"].GetUint64(), json["watchedNs"].GetUint64(), json["hits"].GetUint64(),
                     json["lost"].GetUint64(), json["pid"].GetInt(), json["name"].GetString(),
                     json.HasMember("cut") ? json["cut"].GetString() : ""});
  }
  return lines;
}

Hits::Hits(const std::string& folder) {
  const auto reader = perfdata::Reader::open(folder + "/watch.data");
  reader->readAll(*this);
  warnings = reader->warnings();
}

void Hits::onSample(const perfdata::Sample& sample) {
  ++total;
  if (sample.registers.mask != 0) ++withRegisters;
  if (sample.time < lastTime) ++outOfOrder;
  lastTime = sample.time;
  ++byAddress[sample.address][sample.tid];
  pids.insert(sample.pid);
  cpus.insert(sample.cpu);
}

}  // namespace cacheline::record::test
