// What the recorder asks of the kernel, in one place: tests stand in here for hardware that is not there.
#pragma once

#include <linux/perf_event.h>
#include <sys/types.h>

#include <functional>
#include <string>

namespace cacheline::record {

void* mapAuxArea(int fd, const perf_event_mmap_page& control);

struct Kernel {
  std::string sysfs = "/sys";
  /// perf_event_open(2): a file descriptor, or -1 and errno.
  std::function<int(const perf_event_attr& attr, pid_t pid, int cpu, int groupFd, unsigned long flags)>
      perfEventOpen;
  /// mmap(2) of the AUX area that `control` places behind the ring of `fd`: its address, or MAP_FAILED and
  /// errno.
  std::function<void*(int fd, const perf_event_mmap_page& control)> mapAux = mapAuxArea;
  /// The running one.
  static const Kernel& real();
};

}  // namespace cacheline::record
