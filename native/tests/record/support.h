// What the recorder's tests share: a temporary folder, small C programs compiled on the spot, and a look into
// a recording.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "perfdata/reader.h"
#include "record/recorder.h"

namespace cacheline::record::test {

/// Removed with everything in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void writeFile(const std::string& path, const std::string& text, int mode = 0644);
std::string readFile(const std::string& path);
bool exists(const std::string& path);

/// Compiles C source into folder/NAME with the tests' own compiler; fails the test where that fails.
std::string compile(const TemporaryFolder& folder, const std::string& name, const std::string& source,
                    const std::string& flags = "-O1 -g");

/// THREADS SECONDS: that many threads increment a counter of their own, all in one array, for that much CPU
/// time each (the machine may be busy with other things).
extern const char* const kSpin;

/// Options that record `command` into the folder's new sub-folder "out".
RecordOptions optionsFor(const TemporaryFolder& folder, std::vector<std::string> command);
/// record() without stop and progress.
RecordResult recordNow(const RecordOptions& options);

/// Everything a Reader delivers.
struct Recorded : perfdata::RecordVisitor {
  explicit Recorded(const std::string& folder);
  void onSample(const perfdata::Sample& sample) override;
  void onMmap(const perfdata::Mmap& mmap) override;
  void onComm(const perfdata::Comm& comm) override;
  void onFork(const perfdata::Task& task) override;
  void onExit(const perfdata::Task& task) override;
  void onLost(const perfdata::Lost& lost) override;

  uint64_t samples = 0, withRegisters = 0, withCallchain = 0, kernelSamples = 0, lost = 0, forks = 0,
           exits = 0;
  uint64_t dataMmaps = 0, outOfOrder = 0, lastTime = 0;
  std::set<uint32_t> pids, sampledTids, cpus;
  std::map<std::string, uint64_t> samplesByComm;
  std::map<uint32_t, std::string> commOfTid;
  std::vector<std::string> execs;
  std::set<std::string> mappedFiles;
  std::unique_ptr<perfdata::Reader> reader;
};

/// Runs `body` in a forked child that answers on a pipe: its text, or "crashed" with the status.
std::string inForkedChild(const std::function<std::string()>& body);

/// Runs a shell command; its status and output (both streams).
struct ShellResult {
  int status = -1;
  std::string output;
};
ShellResult shell(const std::string& command);
bool perfIsInstalled();

bool contains(const std::string& text, const std::string& part);
/// True where one of the texts contains the part.
bool anyContains(const std::vector<std::string>& texts, const std::string& part);

/// Waits until `done`: at most two minutes, however busy the machine is. Then it is false, and the test has
/// failed for want of `what`.
bool waitFor(const std::string& what, const std::function<bool()>& done);

}  // namespace cacheline::record::test
