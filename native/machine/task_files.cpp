// Parsing of stat, schedstat and cmdline.
#include "machine/task_files.h"

#include <unistd.h>

#include <array>

#include "base/kernel_files.h"

namespace cacheline::machine {
namespace {

constexpr size_t kMostCommand = 4096;
/// Numbers of fields in proc_pid_stat(5). Field 3 is the first behind the name.
constexpr size_t kState = 3, kFlags = 9, kUserTicks = 14, kSystemTicks = 15, kStartTicks = 22,
                 kProcessor = 39;
constexpr uint64_t kKernelThread = 0x0020'0000;  // PF_KTHREAD of include/linux/sched.h
constexpr uint64_t kMostTicks = UINT64_MAX / 1'000'000'000 / 2;

}  // namespace

std::optional<TaskStat> parseTaskStat(std::string_view text) {
  // The name stands in parentheses and may hold anything, parentheses and spaces too.
  const size_t begin = text.find('('), end = text.rfind(')');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return std::nullopt;
  TaskStat stat;
  stat.name = std::string(text.substr(begin + 1, end - begin - 1));
  std::string_view rest = trim(text.substr(end + 1));
  std::array<std::string_view, kProcessor + 1> fields;
  for (size_t field = kState; field <= kProcessor; field++) fields[field] = takeUntil(rest, ' ');
  const auto number = [&](size_t field) { return parseNumber<uint64_t>(fields[field]); };
  const auto user = number(kUserTicks), system = number(kSystemTicks), start = number(kStartTicks);
  const auto cpu = parseNumber<uint32_t>(fields[kProcessor]);
  if (fields[kState].size() != 1 || !user || !system || !start || !cpu || *user > kMostTicks ||
      *system > kMostTicks)
    return std::nullopt;
  stat.state = fields[kState][0];
  const auto ticksPerSecond = static_cast<uint64_t>(::sysconf(_SC_CLK_TCK));
  stat.cpuNs = (*user + *system) * (1'000'000'000 / ticksPerSecond);
  stat.startTicks = *start;
  stat.cpu = *cpu;
  stat.kernelThread = (number(kFlags).value_or(0) & kKernelThread) != 0;
  return stat;
}

std::optional<uint64_t> parseSchedstat(std::string_view text) {
  const auto ran = parseNumber<uint64_t>(takeUntil(text, ' '));
  const auto waited = parseNumber<uint64_t>(takeUntil(text, ' '));
  const auto slices = parseNumber<uint64_t>(trim(text));
  if (!ran || !waited || !slices || (*ran == 0 && *slices == 0)) return std::nullopt;
  return ran;
}

std::vector<std::string> commandOf(const std::string& processFolder) {
  const std::string text = readText(processFolder + "/cmdline", kMostCommand).value_or("");
  std::vector<std::string> arguments;
  if (text.size() >= kMostCommand) return arguments;
  for (std::string_view rest = text; !rest.empty();) arguments.emplace_back(takeUntil(rest, '\0'));
  return arguments;
}

}  // namespace cacheline::machine
