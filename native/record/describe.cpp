// Descriptions of a recording.
#include "record/describe.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "record/procfs.h"

namespace cacheline::record {
namespace {

template <typename Number>
std::string listOf(const std::vector<Number>& numbers) {
  std::vector<std::string> texts;
  for (const Number number : numbers) texts.push_back(std::to_string(number));
  return join(texts, ",");
}

/// Whatever runs, whenever it does.
bool samplesAll(const RecordOptions& options) {
  return options.target.cpus.empty() && !options.control && !options.kernelOnly;
}

}  // namespace

Rate rateOf(const std::vector<perfdata::Event>& events) {
  for (const perfdata::Event& event : events) {
    if (event.attr.sample_freq == 0) continue;
    if (event.attr.freq) return {static_cast<uint32_t>(event.attr.sample_freq), 0};
    return {0, event.attr.sample_period};
  }
  return {};
}

bool samplesKernel(const std::vector<perfdata::Event>& events) {
  return std::any_of(events.begin(), events.end(),
                     [](const perfdata::Event& event) { return !event.attr.exclude_kernel; });
}

std::vector<std::string> commandLine(const RecordOptions& options, const Rate& rate) {
  std::vector<std::string> words{"cacheline", "record"};
  const auto add = [&](const char* option, const std::string& value) {
    words.insert(words.end(), {option, value});
  };
  if (rate.period != 0) {
    add("-c", std::to_string(rate.period));
  } else {
    add("-F", std::to_string(rate.frequency));
  }
  if (!options.target.cpus.empty()) add("-C", listOf(options.target.cpus));
  if (options.target.kind == Target::Kind::processes) add("-p", listOf(options.target.ids));
  if (options.target.descendants) words.emplace_back("--children");
  if (options.target.kind == Target::Kind::threads) add("-t", listOf(options.target.ids));
  if (options.target.kind == Target::Kind::system) words.emplace_back("-a");
  if (!options.command.empty()) words.emplace_back("--");
  words.insert(words.end(), options.command.begin(), options.command.end());
  return words;
}

std::string isoTime(const timespec& time) {
  tm utc{};
  ::gmtime_r(&time.tv_sec, &utc);
  std::array<char, 32> date{}, text{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text.data(), text.size(), "%.19s.%03dZ", date.data(),
                static_cast<int>(time.tv_nsec / 1'000'000));
  return text.data();
}

std::string absolutePath(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(
      ::realpath(path.empty() ? "." : path.c_str(), nullptr), &std::free);
  return resolved ? resolved.get() : path;
}

bool samplesWereDue(uint32_t frequency, double cpuSeconds) {
  constexpr double kNoAccident = 20;  // docs/outputs.md says so of the exit status
  return frequency * cpuSeconds >= kNoAccident;
}

std::string fewSamplesText(const RecordOptions& options, const RecordResult& result) {
  std::array<char, 96> text{};
  std::snprintf(text.data(), text.size(),
                "only %llu sample%s: ", static_cast<unsigned long long>(result.samples),
                result.samples == 1 ? "" : "s");
  std::string sentence = text.data();
  if (result.programCpuSeconds > 0 || !options.command.empty()) {
    std::snprintf(text.data(), text.size(), "the program ran %.2f s and used %.2f s of CPU time",
                  result.seconds, result.programCpuSeconds);
  } else {
    std::snprintf(text.data(), text.size(), "hardly anything ran in %.2f s", result.seconds);
  }
  sentence += text.data();
  if (result.samples == 0 && result.collector == "agent")
    sentence += "; programs started with an environment of their own (env -i, sudo) have no agent";
  const bool wereDue = result.samples == 0 && result.collector == "clock" && result.samplesWereDue;
  if (wereDue && options.kernelOnly)
    return sentence + ", hardly any of it in the kernel, and only the kernel was sampled (-k)";
  if (wereDue && samplesAll(options))
    return sentence +
           "; the kernel stops sampling when a process starts a program that this user may not read or "
           "that is set-user-ID, so record that program itself, or record as root";
  return sentence + "; too few to judge; let it run longer or ask for a higher rate";
}

}  // namespace cacheline::record
