// A program under watchpoints, without a recorder around them.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "perfdata/reader.h"
#include "record/watcher.h"
#include "support.h"

namespace cacheline::record::test {

/// A program that waits for a byte on its standard input where it calls getchar().
class WatchedProgram {
 public:
  explicit WatchedProgram(const std::string& path, const std::vector<std::string>& arguments = {});
  ~WatchedProgram();
  pid_t pid() const { return pid_; }
  void go();
  bool ended();
  /// Where `symbol` lies in the process.
  uint64_t addressOf(const std::string& symbol) const;

 private:
  std::string path_;
  pid_t pid_ = -1;
  bool reaped_ = false;
  UniqueFd input_;
};

/// Ticks until `done`, as a recorder's loop does.
void drive(Watcher& watcher, const std::function<bool()>& done);

/// One line of watch.jsonl.
struct WindowLine {
  uint64_t address = 0, start = 0, end = 0, watchedNs = 0, hits = 0, lost = 0;
  int pid = 0;
  std::string name, cut;
};
std::vector<WindowLine> windowLines(const std::string& folder);

/// The hits of watch.data.
struct Hits : perfdata::RecordVisitor {
  explicit Hits(const std::string& folder);
  void onSample(const perfdata::Sample& sample) override;
  uint64_t total = 0, withRegisters = 0, outOfOrder = 0, lastTime = 0;
  std::map<uint64_t, std::map<uint32_t, uint64_t>> byAddress;  ///< then by thread
  std::set<uint32_t> pids, cpus;
  std::vector<std::string> warnings;
};

}  // namespace cacheline::record::test
