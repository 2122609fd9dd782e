// Machines that are not here: their PMUs as trees of sysfs, which our code and perf read alike, and a kernel
// that answers perf_event_open as theirs would.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "record/kernel.h"
#include "support.h"

namespace cacheline::record::test {

enum class Machine {
  skylakeSp,
  iceLakeSp,
  sapphireRapids,
  raptorLake,  ///< hybrid; its first CPU is a core, its second an atom
  zen2,
  zen3,
  zen4,
  zen5,
  neoverseN1,
  neoverseV2,
  guestWithoutPebs,  ///< an Intel guest whose PMU only counts
  power10,
};

/// root/bus/event_source/devices/..., root/devices/... in a temporary folder.
class SysfsTree {
 public:
  explicit SysfsTree(Machine machine);
  const std::string& root() const { return folder_.path(); }
  /// Replaces or adds a file; `path` is relative to the PMUs' folder, or to the root where it begins with
  /// '/'.
  void write(const std::string& path, const std::string& text);
  void remove(const std::string& path);

 private:
  std::string place(const std::string& path) const;

  TemporaryFolder folder_;
};

/// One call of perf_event_open, and its answer.
struct OpenCall {
  perf_event_attr attr{};
  pid_t pid = 0;
  int cpu = 0, group = -1;
  unsigned long flags = 0;
  int errnum = 0;  ///< 0: accepted
};

/// A kernel over a tree. Calls that `answer` (an errno, or 0) accepts get a real descriptor of an event that
/// never happens, with the rest of the attribute as it was asked for; all are kept in `calls`. Software
/// events are the running kernel's own.
struct FakeKernel {
  explicit FakeKernel(const SysfsTree& tree, std::function<int(const OpenCall&)> answer = {});
  Kernel kernel;
  std::shared_ptr<std::vector<OpenCall>> calls = std::make_shared<std::vector<OpenCall>>();
};

}  // namespace cacheline::record::test
