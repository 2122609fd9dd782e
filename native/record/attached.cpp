// Whether a process can be recorded, and whether it still runs.
#include "record/attached.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <set>

#include "record/capability.h"
#include "record/procfs.h"
#include "record/watch_threads.h"

namespace cacheline::record {
namespace {

constexpr unsigned long kKernelThread = 0x0020'0000;  // PF_KTHREAD of the kernel's sched.h

std::string pathOf(pid_t id, const char* file) {
  return "/proc/" + std::to_string(id) + "/" + file;
}

/// What proc(5) has in /proc/PID/stat behind the name, which may hold anything.
struct Stat {
  char state = '?';
  unsigned long flags = 0, userTicks = 0, systemTicks = 0;
  double cpuSeconds() const {
    return static_cast<double>(userTicks + systemTicks) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
};
std::optional<Stat> statOf(pid_t id) {
  const std::optional<std::string> text = readText(pathOf(id, "stat"));
  const size_t nameEnd = text ? text->rfind(')') : std::string::npos;
  if (nameEnd == std::string::npos) return std::nullopt;
  Stat stat;
  if (std::sscanf(text->c_str() + nameEnd + 1, " %c %*d %*d %*d %*d %*d %lu %*u %*u %*u %*u %lu %lu",
                  &stat.state, &stat.flags, &stat.userTicks, &stat.systemTicks) != 4)
    return std::nullopt;
  return stat;
}

bool hasEnded(const Stat& stat) {
  return stat.state == 'Z' || stat.state == 'X';
}

bool hasEnded(pid_t id) {
  const std::optional<Stat> stat = statOf(id);
  return !stat || hasEnded(*stat);
}

std::string userName(uid_t user) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> room;
  if (::getpwuid_r(user, &entry, room.data(), room.size(), &found) == 0 && found != nullptr)
    return found->pw_name;
  return "user " + std::to_string(user);
}

[[noreturn]] void refuseOwner(const std::string& what, const std::string& status) {
  const auto owner = static_cast<uid_t>(std::strtoul(fieldOf(status, "Uid").c_str(), nullptr, 10));
  const std::string name = userName(owner);
  const bool own = owner == ::geteuid(), root = ::geteuid() == 0;
  const std::string reason = own || root ? "has privileges that this user lacks" : "belongs to " + name;
  const char* const more =
      "Record with its privileges: from outside this container, or with CAP_SYS_PTRACE and its capabilities";
  throw RefusedError("cannot record " + what + ": it " + reason,
                     {what, reason,
                      root                ? more
                      : own || owner == 0 ? "Record as root: sudo"
                                          : "Record as " + name + " or root: sudo -u " + name});
}

/// The process of an id that can be recorded.
pid_t checkTask(pid_t id, bool thread) {
  const char* kind = thread ? "thread" : "process";
  const std::optional<std::string> status = readText(pathOf(id, "status"));
  const std::optional<Stat> stat = statOf(id);
  if (id <= 0 || !status || !stat)
    throw Error(ErrorKind::usage, std::string("there is no ") + kind + " " + std::to_string(id),
                thread ? "List the threads that run: ps -eLf" : "List the processes that run: ps -ef");
  const std::string what = std::string(kind) + " " + nameOfTask(id);
  const auto process = static_cast<pid_t>(std::strtol(fieldOf(*status, "Tgid").c_str(), nullptr, 10));
  if (!thread && process != id)
    throw Error(ErrorKind::usage, std::to_string(id) + " is a thread of process " + std::to_string(process),
                "Record the process with -p " + std::to_string(process) + ", or the thread alone with -t " +
                    std::to_string(id));
  // The first thread may end before the others: the process goes on.
  if (hasEnded(*stat) && (thread || threadsOf(id).size() < 2))
    throw Error(ErrorKind::usage, what + " has ended and waits for its parent to notice",
                "Start it again, or record its parent");
  if ((stat->flags & kKernelThread) != 0)
    throw Error(ErrorKind::usage, what + " is one of the kernel's own: it runs no program",
                "Name a process of a program");
  // The kernel asks the same of perf_event_open and of a reader of the mappings.
  const UniqueFd maps(::open(pathOf(id, "maps").c_str(), O_RDONLY | O_CLOEXEC));
  if (!maps && (errno == EACCES || errno == EPERM)) refuseOwner(what, *status);
  return process;
}

}  // namespace

std::string nameOfTask(pid_t id) {
  const std::optional<std::string> name = readText(pathOf(id, "comm"));
  return std::to_string(id) + (name ? " (" + *name + ")" : "");
}

Attached::Attached(const Target& target) : target_(target) {
  for (const pid_t id : target.ids) add(id, target.kind == Target::Kind::threads);
  if (target.descendants) addDescendants();
}

void Attached::add(pid_t id, bool thread) {
  One one;
  one.id = id;
  one.process = checkTask(id, thread);
  one.firstCpu = one.lastCpu = statOf(id).value_or(Stat{}).cpuSeconds();
  if (!thread) one.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, id, 0)));
  if (std::find(processes_.begin(), processes_.end(), one.process) == processes_.end())
    processes_.push_back(one.process);
  all_.push_back(std::move(one));
}

/// Some start others while they are looked for: until a look finds nothing new, but not for ever.
void Attached::addDescendants() {
  constexpr int kMostLooks = 100;
  std::set<pid_t> looked(target_.ids.begin(), target_.ids.end());
  bool found = true;
  for (int i = 0; found && i < kMostLooks; ++i) {
    found = false;
    for (const pid_t id : withDescendants(target_.ids)) {
      if (!looked.insert(id).second) continue;
      found = true;
      try {
        add(id, false);
      } catch (const RefusedError&) {
        ++refused_;
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::usage) throw;
        ++gone_;
      }
    }
  }
}

std::vector<pid_t> Attached::ids() const {
  std::vector<pid_t> list;
  for (const One& one : all_) list.push_back(one.id);
  return list;
}

std::vector<std::string> Attached::warnings() const {
  std::vector<std::string> list;
  const auto processes = [](size_t count) {
    return std::to_string(count) + (count == 1 ? " process" : " processes");
  };
  if (refused_ > 0)
    list.push_back(
        processes(refused_) +
        " that descend from the ones asked for belong to other users and are not recorded; record as root");
  if (gone_ > 0)
    list.push_back(processes(gone_) +
                   " that descend from the ones asked for ended before the recording began");
  if (target_.kind == Target::Kind::processes && target_.children && !target_.descendants) {
    const size_t below = withDescendants(target_.ids).size();
    if (below > processes_.size())
      list.push_back(processes(below - processes_.size()) + " that " +
                     (processes_.size() == 1 ? nameOfTask(processes_.front()) : "they") +
                     " started earlier are not recorded; --children records them");
  }
  for (const One& one : all_) {
    const char state = statOf(one.id).value_or(Stat{}).state;
    if (state == 'T')
      list.push_back(nameOfTask(one.id) + " is stopped: it is not sampled until it continues (kill -CONT " +
                     std::to_string(one.process) + ")");
    if (state == 't')
      list.push_back(nameOfTask(one.id) + " is held by a debugger: it is not sampled until it continues");
  }
  return list;
}

std::vector<int> Attached::wakeups() const {
  std::vector<int> fds;
  for (const One& one : all_)
    if (one.pidfd && !one.ended) fds.push_back(one.pidfd.get());
  return fds;
}

bool Attached::ended() {
  bool all = true;
  for (One& one : all_) {
    if (one.ended) continue;
    // A pidfd is readable once all threads have ended, also where somebody else's process has the id by now.
    pollfd entry{one.pidfd.get(), POLLIN, 0};
    one.ended = one.pidfd ? ::poll(&entry, 1, 0) > 0 : hasEnded(one.id);
    if (one.ended) one.look();
    all &= one.ended;
  }
  return all;
}

/// What it used so far. Once it has ended the id may be somebody else's, who lives.
void Attached::One::look() {
  const std::optional<Stat> stat = statOf(id);
  if (stat && (!ended || hasEnded(*stat))) lastCpu = stat->cpuSeconds();
}

double Attached::cpuSeconds() {
  double seconds = 0;
  for (One& one : all_) {
    if (!one.ended) one.look();
    seconds += one.lastCpu - one.firstCpu;
  }
  return seconds;
}

}  // namespace cacheline::record
