// perf_event_open(2): attributes and the attempts, from most to least demanding.
#include "record/perf_event.h"

#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "base/registers.h"

namespace cacheline::record {
namespace {

struct Attempt {
  bool kernel, interruptRegisters;
};
// The kernel refuses its own samples above paranoid 1, and REGS_INTR to everybody under lockdown.
constexpr std::array<Attempt, 4> kAttempts{{{true, true}, {false, true}, {true, false}, {false, false}}};

bool asksForTooMuch(int errnum) {
  return errnum == EACCES || errnum == EPERM || errnum == EINVAL || errnum == EOPNOTSUPP;
}

/// 0, or the errno of the CPU that refused.
int openOnCpus(ClockEvents& events, pid_t pid, const std::vector<uint32_t>& cpus) {
  events.fds.clear();
  events.event.ids.clear();
  int lastError = ENODEV;
  for (const uint32_t cpu : cpus) {
    UniqueFd fd = perfEventOpen(events.event.attr, pid, static_cast<int>(cpu));
    if (!fd) {
      lastError = errno;
      if (lastError == ENODEV) continue;  // went offline since the list was read
      return lastError;
    }
    uint64_t id = 0;
    if (::ioctl(fd.get(), PERF_EVENT_IOC_ID, &id) != 0) return errno;
    events.fds.push_back(std::move(fd));
    events.event.ids.push_back(id);
  }
  return events.fds.empty() ? lastError : 0;
}

}  // namespace

UniqueFd perfEventOpen(const perf_event_attr& attr, pid_t pid, int cpu) {
  return UniqueFd(
      static_cast<int>(::syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
}

perf_event_attr clockAttr(uint32_t frequency, bool callchains, bool kernel, bool interruptRegisters) {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.freq = 1;
  attr.sample_freq = frequency;
  attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
  if (callchains) attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  if (interruptRegisters) {
    attr.sample_type |= PERF_SAMPLE_REGS_INTR;
    attr.sample_regs_intr = kX86SampleRegs;
  } else {
    attr.sample_type |= PERF_SAMPLE_REGS_USER;
    attr.sample_regs_user = kX86SampleRegs;
  }
  attr.disabled = 1;
  attr.enable_on_exec = 1;
  attr.inherit = 1;
  attr.exclude_kernel = kernel ? 0 : 1;
  attr.exclude_hv = kernel ? 0 : 1;
  // Side-band records are delivered to the event of the CPU on which they happen: every event asks for them.
  attr.mmap = attr.mmap2 = attr.mmap_data = 1;
  attr.comm = attr.comm_exec = 1;
  attr.task = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;  // with wakeup_watermark 0 the kernel takes half the ring
  return attr;
}

uint32_t allowedFrequency(uint32_t asked, const Permissions& permissions,
                          std::vector<std::string>& warnings) {
  const int64_t limit = permissions.maxSampleRate.value_or(kMostFrequency);
  const bool kernelLimits = limit > 0 && limit < kMostFrequency;
  const uint32_t most = kernelLimits ? static_cast<uint32_t>(limit) : kMostFrequency;
  if (asked <= most) return asked;
  warnings.push_back("asked for " + std::to_string(asked) + " samples a second, recorded " +
                     std::to_string(most) +
                     (kernelLimits ? ": kernel.perf_event_max_sample_rate allows no more"
                                   : ": more could leave the program no time to run"));
  return most;
}

void ClockEvents::disable() const {
  for (const UniqueFd& fd : fds) ::ioctl(fd.get(), PERF_EVENT_IOC_DISABLE, 0);
}

ClockEvents openClockEvents(pid_t pid, const std::vector<uint32_t>& cpus, uint32_t frequency, bool callchains,
                            const Permissions& permissions) {
#if !defined(__x86_64__)
  throw RefusedError("cannot record here: this version knows the registers of x86-64 only",
                     {"architecture", "not x86-64", "Record on an x86-64 machine"});
#endif
  int errnum = 0;
  for (const Attempt& attempt : kAttempts) {
    ClockEvents events;
    events.kernel = attempt.kernel;
    events.event.attr = clockAttr(frequency, callchains, attempt.kernel, attempt.interruptRegisters);
    events.event.name = attempt.kernel ? "cpu-clock" : "cpu-clock:u";
    errnum = openOnCpus(events, pid, cpus);
    if (errnum == 0) {
      if (!attempt.interruptRegisters)
        events.warnings.push_back(
            "the kernel refuses registers at the interrupt (kernel lockdown: " +
            permissions.lockdown.value_or("unknown") +
            "): recorded user registers instead, which is the same for samples in the program's own code");
      return events;
    }
    if (!asksForTooMuch(errnum)) break;
  }
  throw refusalError(errnum, permissions);
}

}  // namespace cacheline::record
