// Warnings of reports.
#include "analysis/warnings.h"

#include <utility>

#include "analysis/verdict.h"

namespace cacheline::analysis {

namespace {

/// Of the samples in turns and the contended ones, what share is worth a word.
constexpr uint64_t kWorthSaying = 20;  // one in so many

/// Where lines are contended, and threads took turns, too. Empty: the report's head says it, or it is little.
std::string inTurns(const Report& report) {
  if (!report.turns || report.contended == 0) return {};
  const TakenTurns& turns = *report.turns;
  if (turns.samples * kWorthSaying < turns.samples + report.contended) return {};
  return std::to_string(turns.samples) + (turns.samples == 1 ? " sample is" : " samples are") +
         " not counted as contended: the threads that compete for these cache lines took turns on one CPU "
         "meanwhile, "
         "as " +
         (turns.by == RanBy::switches ? "context switches" : "the CPUs of samples") +
         " show. They may wait for each other where each has a CPU: record again on an idle machine.";
}

}  // namespace

std::vector<std::string> warningsOf(const WarningSources& sources, const Report& report,
                                    std::vector<std::string> own) {
  std::vector<std::string> list = sources.recording.meta.warnings;
  const auto add = [&](const std::vector<std::string>& more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  add(sources.reader.warnings());
  if (sources.allocations != nullptr) add(sources.allocations->warnings());
  if (sources.watched != nullptr) add(sources.watched->warnings);
  add(own);
  if (sources.timeline.lost > 0)
    list.push_back(
        std::to_string(sources.timeline.lost) +
        " records were lost while recording: counts are too low, and some mappings or threads may be "
        "missing.");
  if (!sources.cpusKnown)
    list.emplace_back("The samples carry no CPU numbers: `cpus` and `nodes` of accesses are unknown.");
  if (!sources.callersLeftOut.empty()) list.push_back(sources.callersLeftOut);
  if (std::string text = leftOutOfPairs(report.linesOfMany); !text.empty()) list.push_back(std::move(text));
  if (std::string text = inTurns(report); !text.empty()) list.push_back(std::move(text));
  for (std::string& text : sources.binaries.warnings(report.samples)) list.push_back(std::move(text));
  return list;
}

}  // namespace cacheline::analysis
