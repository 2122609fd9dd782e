// What /proc has of a process and of one thread, as numbers.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cacheline::machine {

/// Of a line of /proc/PID/stat or /proc/PID/task/TID/stat (proc_pid_stat(5)).
struct TaskStat {
  std::string name;  ///< untrusted
  char state = '?';
  uint64_t cpuNs = 0;  ///< user + system time; of a process with all its threads, ended ones too
  uint64_t startTicks = 0;
  uint32_t cpu = 0;           ///< it ran on last
  bool kernelThread = false;  ///< PF_KTHREAD of include/linux/sched.h
  bool ended() const { return state == 'Z' || state == 'X'; }
};
/// Empty where the text is no such line.
std::optional<TaskStat> parseTaskStat(std::string_view text);

/// Time on a CPU in ns, of /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst). Empty
/// where the text is no such line, or the kernel counts nothing ("0 0 0").
std::optional<uint64_t> parseSchedstat(std::string_view text);

/// The arguments in /proc/PID/cmdline; empty where it is unreadable, or longer than 4096 bytes.
std::vector<std::string> commandOf(const std::string& processFolder);

}  // namespace cacheline::machine
