// Tries each collector and turns refusals into blockers.
#include "record/examine.h"

#include <linux/hw_breakpoint.h>

#include <cerrno>
#include <optional>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "record/agent_source.h"
#include "record/clock_plan.h"
#include "record/memory_plan.h"
#include "record/perf_source.h"

namespace cacheline::record {
namespace {

constexpr int kMostDebugRegisters = 16;  // of any architecture Linux has hardware breakpoints for

/// Opens the plan as a recording would: on this thread, or on the machine where the PMU cannot do less.
CollectorState tryPlan(const Planned& planned, const Kernel& kernel, const Permissions& permissions) {
  CollectorState state{planned.plan.collector, false, planned.blockers, ""};
  if (!state.blockers.empty()) return state;
  const bool wholeMachine = planned.plan.wholeMachineOnly;
  const Target target{wholeMachine ? Target::Kind::system : Target::Kind::threads,
                      wholeMachine ? std::vector<pid_t>{} : std::vector<pid_t>{0},
                      {},
                      true};
  try {
    PerfSource::open(kernel, planned.plan, target, permissions, {});
    state.usable = true;
  } catch (const RefusedError& error) {
    state.blockers = error.blockers();
  } catch (const Error& error) {
    state.blockers.push_back({state.name, error.what(), error.nextStep()});
  }
  return state;
}

/// What can be attached to: the kernel asks for no more than reading a process takes (ptrace(2)), and Yama
/// has no say in that.
std::string reachOf(const Permissions& permissions) {
  if (permissions.privileged()) return "It attaches to every process (-p) and records the whole machine (-a)";
  const bool machine = permissions.perfEventParanoid.value_or(2) <= 0;
  std::string text = "It attaches to this user's processes (-p)";
  if (machine) text += " and records the whole machine (-a)";
  if (permissions.ptraceScope.value_or(0) > 0)
    text += ", whatever kernel.yama.ptrace_scope (" + std::to_string(*permissions.ptraceScope) + ") says";
  text += ". Other users' processes need CAP_PERFMON";
  return machine
             ? text
             : text +
                   ". The whole machine (-a) needs CAP_PERFMON or: sudo sysctl kernel.perf_event_paranoid=0";
}

}  // namespace

DebugRegisters tryDebugRegisters(const Kernel& kernel) {
  static const uint64_t watched = 0;
  perf_event_attr attr{};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_BREAKPOINT;
  attr.bp_type = HW_BREAKPOINT_RW;
  attr.bp_addr = reinterpret_cast<uint64_t>(&watched);
  attr.bp_len = HW_BREAKPOINT_LEN_8;
  attr.disabled = 1;
  attr.exclude_kernel = attr.exclude_hv = 1;
  DebugRegisters result;
  std::vector<UniqueFd> held;
  while (result.count < kMostDebugRegisters) {
    UniqueFd fd(kernel.perfEventOpen(attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (!fd) {
      result.errnum = errno;
      break;
    }
    held.push_back(std::move(fd));
    result.count++;
  }
  return result;
}

CollectorState examinePmu(const Kernel& kernel, const Permissions& permissions) {
  const Planned planned = planMemory(kernel, RecordOptions{}, permissions);
  CollectorState state = tryPlan(planned, kernel, permissions);
  state.note =
      "Its encodings agree with perf's on made-up sysfs trees of nine processors; it has run on no real "
      "memory "
      "PMU yet";
  return state;
}

CollectorState examineClock(const Kernel& kernel, const Permissions& permissions) {
  CollectorState state = tryPlan(planClock(RecordOptions{}, permissions), kernel, permissions);
  if (state.usable) state.note = reachOf(permissions);
  return state;
}

CollectorState examineWatch(const DebugRegisters& registers, const Permissions& permissions) {
  CollectorState state{"watch", registers.count > 0, {}, ""};
  if (state.usable) return state;
  switch (registers.errnum) {
    case ENOSPC:
      state.blockers = {{"debug registers", "all in use", "End the debugger or tracer that holds them"}};
      break;
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      state.blockers = {{"debug registers", "none: " + errnoText(registers.errnum),
                         "Use a kernel built with CONFIG_HAVE_HW_BREAKPOINT, and in a virtual machine one "
                         "that hands them on"}};
      break;
    default:
      state.blockers = refusalBlockers(registers.errnum, permissions);
  }
  return state;
}

CollectorState examineAgent(const std::string& library) {
  CollectorState state{"agent", true, {}, ""};
  if (std::optional<Blocker> blocker = whyNoAgent(Target{}, library)) {
    state.usable = false;
    state.blockers.push_back(std::move(*blocker));
  }
  return state;
}

}  // namespace cacheline::record
