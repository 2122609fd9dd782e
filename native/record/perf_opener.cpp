// One event a thread, CPU and planned event: the kernel maps no ring for an inherited event of all CPUs.
#include "record/perf_opener.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "perfdata/format.h"
#include "record/machine.h"
#include "record/procfs.h"

namespace cacheline::record {
namespace {

constexpr int kLeastPrecision = 1;  // below it the address is not that of the sampled access

bool has(const std::vector<uint32_t>& cpus, uint32_t cpu) {
  return cpus.empty() || std::find(cpus.begin(), cpus.end(), cpu) != cpus.end();
}

/// An event of this thread that never counts, to ask the kernel what it knows.
perf_event_attr probeAttr() {
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.disabled = attr.exclude_kernel = attr.exclude_hv = 1;
  return attr;
}

/// 0, or the errno with which the kernel refuses the event.
int probe(const Kernel& kernel, const perf_event_attr& attr) {
  return UniqueFd(kernel.perfEventOpen(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)) ? 0 : errno;
}

/// Whether the kernel tells how many records of an event found no room in its ring.
bool canCountLost(const Kernel& kernel) {
  perf_event_attr attr = probeAttr();
  attr.read_format = perfdata::kReadFormatLost;
  return probe(kernel, attr) == 0;
}

/// 0, or the errno with which the kernel refuses to record context switches.
int switchRefusal(const Kernel& kernel) {
  perf_event_attr attr = probeAttr();
  attr.context_switch = 1;
  return probe(kernel, attr);
}

}  // namespace

bool isTracking(const perf_event_attr& attr) {
  return attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_DUMMY;
}

PerfOpener::PerfOpener(const Kernel& kernel, Target target, const PerfSetup& setup)
    : kernel_(kernel),
      countsLost_(canCountLost(kernel)),
      refusesSwitches_(countsLost_ || !setup.switches ? 0 : switchRefusal(kernel)),
      target_(std::move(target)),
      setup_(setup),
      cpus_(onlineCpus()) {
  std::erase_if(cpus_, [&](uint32_t cpu) { return !has(target_.cpus, cpu); });
}

int PerfOpener::open(const Attempt& wanted) {
  attempt = wanted;
  if (setup_.switches && refusesSwitches_ == 0) addSwitches();
  if (setup_.tracking) addTracking();
  inherit_ = target_.kind != Target::Kind::system;
  inheritThread_ = inherit_ && !target_.children;
  for (;;) {
    events.clear();
    const int errnum = openTarget();
    if (errnum == 0) break;
    if (errnum == EINVAL && inheritThread_) {
      inherit_ = inheritThread_ = false;
      continue;
    }
    if (!lowerPrecision(errnum)) {
      events.clear();
      return errnum;
    }
  }
  if (!inherit_ && target_.kind != Target::Kind::system)
    attempt.warnings.push_back(
        "this kernel follows new threads only together with new processes (Linux 5.13 tells them apart): "
        "threads "
        "that started later are not recorded");
  for (PlannedEvent& planned : attempt.events) planned.event.attr = attributeOf(planned);
  for (const OpenEvent& event : events) attempt.events[event.event].event.ids.push_back(event.id);
  return 0;
}

int PerfOpener::openTarget() {
  if (target_.kind == Target::Kind::system) return openThread(-1);
  if (target_.kind != Target::Kind::processes) {
    for (const pid_t thread : target_.ids)
      if (const int errnum = openThread(thread); errnum != 0 && errnum != ESRCH) return errnum;
    return events.empty() ? ESRCH : 0;
  }
  // A thread that is not open yet may start others meanwhile: look until there is none.
  std::set<pid_t> known;
  for (bool more = true; more;) {
    more = false;
    for (const pid_t process : target_.ids) {
      for (const pid_t thread : threadsOf(process)) {
        if (!known.insert(thread).second) continue;
        more = true;
        if (const int errnum = openThread(thread); errnum != 0 && errnum != ESRCH) return errnum;
      }
    }
  }
  return events.empty() ? ESRCH : 0;
}

int PerfOpener::openThread(pid_t thread) {
  const size_t before = events.size();
  int errnum = 0;
  for (const uint32_t cpu : cpus_) {
    errnum = openOn(thread, cpu);
    if (errnum == ENODEV) continue;  // went offline since the list was read
    if (errnum == 0) continue;
    events.resize(before);
    return errnum;
  }
  return events.size() > before ? 0 : ENODEV;
}

int PerfOpener::openOn(pid_t thread, uint32_t cpu) {
  const size_t before = events.size();
  for (size_t i = 0; i < attempt.events.size(); i++) {
    const PlannedEvent& planned = attempt.events[i];
    if (!has(planned.cpus, cpu)) continue;
    int group = -1;
    for (size_t j = before; planned.leader >= 0 && j < events.size(); j++)
      if (events[j].event == static_cast<size_t>(planned.leader)) group = events[j].fd.get();
    OpenEvent event;
    event.fd.reset(kernel_.perfEventOpen(attributeOf(planned), thread, static_cast<int>(cpu), group,
                                         PERF_FLAG_FD_CLOEXEC));
    if (!event.fd || ::ioctl(event.fd.get(), PERF_EVENT_IOC_ID, &event.id) != 0) {
      const int errnum = errno;
      events.resize(before);
      refused_ = i;
      return errnum;
    }
    event.event = i;
    event.cpu = cpu;
    event.thread = thread;
    events.push_back(std::move(event));
  }
  return 0;
}

/// Context switches are recorded by the events that report mappings: there is one a CPU. They stay with them
/// where addTracking() moves the mappings, because they only tell something while sampling is on.
void PerfOpener::addSwitches() {
  for (const PlannedEvent& planned : attempt.events)
    if (planned.event.attr.context_switch != 0) return;  // Arm SPE needs them for itself
  for (PlannedEvent& planned : attempt.events) planned.event.attr.context_switch = planned.event.attr.mmap;
}

SwitchRecords PerfOpener::switches() const {
  for (const PlannedEvent& planned : attempt.events)
    if (planned.event.attr.context_switch != 0) return {true, ""};
  if (!setup_.switches) return {false, "they were not asked for (--no-switches)"};
  return {false, "the kernel refuses them with " + errnoText(refusesSwitches_)};
}

/// Moves the side-band records from the events that sample to one that never does.
void PerfOpener::addTracking() {
  PlannedEvent tracking;
  tracking.event.name = "dummy:u";
  perf_event_attr& attr = tracking.event.attr;
  attr = attempt.events.front().event.attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.config1 = attr.config2 = 0;
  attr.freq = 0;
  attr.precise_ip = 0;
  attr.sample_period = 1;
  attr.sample_type &= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                      PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
  attr.sample_regs_intr = attr.sample_regs_user = attr.sample_stack_user = 0;
  attr.exclude_callchain_user = attr.exclude_user = 0;
  attr.context_switch = 0;
  attr.exclude_kernel = attr.exclude_hv = 1;
  for (PlannedEvent& planned : attempt.events) {
    perf_event_attr& other = planned.event.attr;
    other.mmap = other.mmap2 = other.mmap_data = other.comm = other.comm_exec = other.task = 0;
  }
  attr.mmap = attr.mmap2 = attr.mmap_data = attr.comm = attr.comm_exec = attr.task = 1;
  attempt.events.push_back(std::move(tracking));
}

/// perf's :P. True where another try is worth it.
bool PerfOpener::lowerPrecision(int errnum) {
  if (errnum != EINVAL && errnum != EOPNOTSUPP) return false;
  PlannedEvent& planned = attempt.events[refused_];
  if (!planned.precisionMayFall || planned.event.attr.precise_ip <= kLeastPrecision) return false;
  planned.event.attr.precise_ip--;
  return true;
}

/// With what depends on the target. The members of a group follow their leader.
perf_event_attr PerfOpener::attributeOf(const PlannedEvent& planned) const {
  perf_event_attr attr = planned.event.attr;
  const bool leads = planned.leader < 0;
  attr.disabled = leads ? 1 : 0;
  attr.enable_on_exec = leads && setup_.enableOnExec ? 1 : 0;
  if (setup_.tracking && isTracking(attr)) {
    const bool command = target_.kind == Target::Kind::command;
    attr.enable_on_exec = command ? 1 : 0;
    attr.disabled = command ? 1 : 0;
  }
  attr.inherit = inherit_ ? 1 : 0;
  attr.inherit_thread = inheritThread_ ? 1 : 0;
  attr.read_format = countsLost_ ? perfdata::kReadFormatLost : 0;
  return attr;
}

}  // namespace cacheline::record
