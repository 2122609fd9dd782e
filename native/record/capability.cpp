// Permissions of perf events: paranoid level, capabilities, seccomp, lockdown, limits.
#include "record/capability.h"

#include <linux/capability.h>
#include <sys/resource.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "record/procfs.h"

namespace cacheline::record {
namespace {

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

constexpr std::array<std::pair<int, const char*>, 4> kRelevantCapabilities{
    {{CAP_PERFMON, "CAP_PERFMON"},
     {CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
     {CAP_SYS_PTRACE, "CAP_SYS_PTRACE"},
     {CAP_IPC_LOCK, "CAP_IPC_LOCK"}}};

/// "none [integrity] confidentiality" -> "integrity".
std::optional<std::string> readLockdown() {
  const std::optional<std::string> text = readText("/sys/kernel/security/lockdown");
  if (!text) return std::nullopt;
  const size_t open = text->find('['), close = text->find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  return text->substr(open + 1, close - open - 1);
}

/// The initial user namespace maps every id to itself (user_namespaces(7)).
bool mapsAllUsers() {
  const std::optional<std::string> map = readText("/proc/self/uid_map");
  if (!map) return true;
  unsigned long inside = 1, outside = 1, count = 0;
  return std::sscanf(map->c_str(), "%lu %lu %lu", &inside, &outside, &count) == 3 && inside == 0 &&
         outside == 0 && count == 4294967295ul;
}

constexpr const char* kParanoid = "kernel.perf_event_paranoid";

Blocker paranoidBlocker(const Permissions& permissions) {
  const std::string who = permissions.capabilities.empty() || permissions.initialUserNamespace
                              ? "this user has no CAP_PERFMON"
                              : "capabilities of this user namespace do not count";
  return {kParanoid, std::to_string(*permissions.perfEventParanoid) + ", and " + who,
          "sudo sysctl kernel.perf_event_paranoid=2"};
}

Blocker seccompBlocker(const Permissions& permissions) {
  return {"seccomp filter", "mode " + std::to_string(*permissions.seccompMode),
          "Start the container with `--cap-add PERFMON` or `--security-opt seccomp=unconfined`, or record "
          "outside the sandbox"};
}

std::string fixesOf(const std::vector<Blocker>& blockers) {
  std::vector<std::string> fixes;
  for (const Blocker& blocker : blockers) fixes.push_back(blocker.fix);
  return join(fixes, "; and: ");
}

}  // namespace

RefusedError::RefusedError(const std::string& message, std::vector<Blocker> blockers)
    : Error(ErrorKind::impossible, message, fixesOf(blockers)), blockers_(std::move(blockers)) {}

bool Permissions::privileged() const {
  if (!initialUserNamespace) return false;
  for (const std::string& name : capabilities)
    if (name == "CAP_PERFMON" || name == "CAP_SYS_ADMIN") return true;
  return false;
}

Permissions readPermissions() {
  Permissions permissions;
  permissions.perfEventParanoid = readNumber("/proc/sys/kernel/perf_event_paranoid");
  permissions.perfEventMlockKb = readNumber("/proc/sys/kernel/perf_event_mlock_kb");
  permissions.maxSampleRate = readNumber("/proc/sys/kernel/perf_event_max_sample_rate");
  permissions.kptrRestrict = readNumber("/proc/sys/kernel/kptr_restrict");
  permissions.ptraceScope = readNumber("/proc/sys/kernel/yama/ptrace_scope");
  permissions.lockdown = readLockdown();
  permissions.initialUserNamespace = mapsAllUsers();
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    permissions.memlockBytes = limit.rlim_cur;
  // Seccomp filters and capabilities belong to threads.
  if (const std::optional<std::string> status = readText("/proc/thread-self/status")) {
    const uint64_t effective = std::strtoull(fieldOf(*status, "CapEff").c_str(), nullptr, 16);
    for (const auto& [bit, name] : kRelevantCapabilities)
      if ((effective >> bit & 1) != 0) permissions.capabilities.emplace_back(name);
    const std::string seccomp = fieldOf(*status, "Seccomp");
    if (!seccomp.empty()) permissions.seccompMode = std::strtol(seccomp.c_str(), nullptr, 10);
  }
  return permissions;
}

std::string errnoText(int errnum) {
  const char* name = ::strerrorname_np(errnum);
  return (name != nullptr ? std::string(name) : std::to_string(errnum)) + " (" + std::strerror(errnum) + ")";
}

std::vector<Blocker> refusalBlockers(int errnum, const Permissions& permissions) {
  switch (errnum) {
    case ENOSYS:
      if (permissions.seccompMode.value_or(0) != 0) return {seccompBlocker(permissions)};
      return {{"perf_event_open", errnoText(errnum),
               "Use a kernel built with CONFIG_PERF_EVENTS, outside a sandbox that leaves the call out"}};
    case EMFILE:
    case ENFILE:
      return {{"open files", errnoText(errnum), "Raise the limit of open files: ulimit -n 4096"}};
    case EACCES:
    case EPERM:
      break;
    default:
      return {{"perf_event_open", errnoText(errnum), "Record on a kernel that offers the cpu-clock event"}};
  }
  const bool paranoid = permissions.perfEventParanoid.value_or(0) > 2 && !permissions.privileged();
  // The paranoid level says EACCES. A filter in front of it mostly says EPERM, and lifting that shows the
  // level.
  if (paranoid && errnum == EACCES) return {paranoidBlocker(permissions)};
  std::vector<Blocker> blockers;
  if (permissions.seccompMode.value_or(0) != 0) blockers.push_back(seccompBlocker(permissions));
  if (paranoid) blockers.push_back(paranoidBlocker(permissions));
  if (!blockers.empty()) return blockers;
  if (permissions.lockdown.value_or("none") != "none")
    return {{"kernel lockdown", *permissions.lockdown, "Boot with lockdown=none (often: Secure Boot off)"}};
  return {{"perf_event_open", errnoText(errnum),
           "Look for a security module that refuses it: sudo ausearch -m avc -ts recent"}};
}

Blocker explainRefusal(int errnum, const Permissions& permissions) {
  return refusalBlockers(errnum, permissions).front();
}

RefusedError refusalError(int errnum, const Permissions& permissions) {
  std::vector<Blocker> blockers = refusalBlockers(errnum, permissions);
  std::string message = "cannot record here: perf_event_open is refused with " + errnoText(errnum);
  bool namesParanoid = false;
  for (const Blocker& blocker : blockers) {
    if (blocker.what != "perf_event_open") message += "; " + blocker.what + ": " + blocker.value;
    namesParanoid |= blocker.what == kParanoid;
  }
  if (!namesParanoid)
    message += std::string("; ") + kParanoid + " is " +
               (permissions.perfEventParanoid ? std::to_string(*permissions.perfEventParanoid) : "unknown");
  return {message, std::move(blockers)};
}

}  // namespace cacheline::record
