// What the recorder asks of the kernel, in one place: tests stand in here for hardware that is not there.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <functional>
#include <string>

namespace cacheline::record {

struct Kernel {
  std::string sysfs = "/sys";
  /// perf_event_open(2): a file descriptor, or -1 and errno.
  std::function<int(const perf_event_attr& attr, pid_t pid, int cpu, int groupFd, unsigned long flags)>
      perfEventOpen;
  /// The running one.
  static const Kernel& real();
};

}  // namespace cacheline::record
