// The sentences on contradictory options.
#include "record/check_options.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "record/machine.h"

namespace cacheline::record {
namespace {

constexpr size_t kMostRingBytes = size_t{1} << 30;

[[noreturn]] void wrong(const std::string& message, const std::string& nextStep) {
  throw Error(ErrorKind::usage, message, nextStep);
}

bool isFolder(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

void checkTarget(const RecordOptions& options) {
  const Target& target = options.target;
  const bool attach = target.kind == Target::Kind::processes || target.kind == Target::Kind::threads;
  if (options.command.empty() && target.kind == Target::Kind::command)
    wrong("there is no program to record", "Name a program");
  if (attach && target.ids.empty()) wrong("there is no process to record", "Name one with -p");
  if (attach && !options.command.empty())
    wrong("give a command or running processes, not both", "Leave one of them out");
  if (options.heap && options.command.empty())
    wrong("heap blocks can be recorded only of a program that is started here", "Give its command");
  if (options.trace && options.command.empty())
    wrong("objects can be traced only in a program that is started here", "Give its command");
  if (options.trace && (options.watch || options.heap))
    wrong("a trace needs the debug registers and the agent for itself",
          "Leave out watchpoints and heap blocks");
  const std::vector<uint32_t> online = onlineCpus();
  for (const uint32_t cpu : target.cpus)
    if (std::find(online.begin(), online.end(), cpu) == online.end())
      wrong("CPU " + std::to_string(cpu) + " is not online", "See /sys/devices/system/cpu/online");
}

void checkRates(const RecordOptions& options) {
  if (options.frequency == 0 && options.period == 0)
    wrong("a rate of 0 samples a second records nothing", "Ask for 1 Hz or more");
  if (options.period != 0 && options.frequencyGiven)
    wrong("give a rate or a period, not both", "Leave one of them out");
  if (options.userOnly && options.kernelOnly)
    wrong("\"only user code\" and \"only kernel code\" contradict each other", "Give one of them");
  if (options.ringBytes > kMostRingBytes)
    wrong("ring buffers of " + std::to_string(options.ringBytes >> 20) + " MiB a CPU are too large",
          "Ask for at most 1024 MiB");
  if (!std::isfinite(options.durationSeconds) || options.durationSeconds < 0)
    wrong("a duration of " + std::to_string(options.durationSeconds) + " s is not possible",
          "Give a positive number of seconds, or 0 for the program's whole run");
}

}  // namespace

void checkOptions(const RecordOptions& options) {
  checkTarget(options);
  checkRates(options);
  if (!isFolder(options.outputDirectory))
    wrong("the output folder " + options.outputDirectory + " does not exist", "Create it first");
  if (!options.workingDirectory.empty() && !isFolder(options.workingDirectory))
    wrong("the working folder " + options.workingDirectory + " does not exist", "Name an existing folder");
}

}  // namespace cacheline::record
