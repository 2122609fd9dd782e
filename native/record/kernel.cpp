// The system calls of the running kernel.
#include "record/kernel.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace cacheline::record {

void* mapAuxArea(int fd, const perf_event_mmap_page& control) {
  return ::mmap(nullptr, control.aux_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                static_cast<off_t>(control.aux_offset));
}

const Kernel& Kernel::real() {
  static const Kernel kernel{
      "/sys", [](const perf_event_attr& attr, pid_t pid, int cpu, int groupFd, unsigned long flags) {
        return static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, cpu, groupFd, flags));
      }};
  return kernel;
}

}  // namespace cacheline::record
