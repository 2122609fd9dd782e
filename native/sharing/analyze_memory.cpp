// A recording with data sources from its reader to its report.
#include <linux/perf_event.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>

#include "analysis/warnings.h"
#include "analysis/watch_evidence.h"
#include "base/error.h"
#include "sharing/event_fields.h"
#include "sharing/inputs.h"
#include "sharing/memory_report.h"
#include "sharing/readings.h"
#include "sharing/spe_source.h"

namespace cacheline::sharing {

namespace {

bool isArm(const std::string& arch) {
  return arch.starts_with("aarch64") || arch.starts_with("arm");
}

void checkHasAddresses(const perfdata::Reader& reader) {
  if (hasBits(reader, PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_ADDR) || isSpe(reader)) return;
  throw Error(ErrorKind::unreadable,
              "the samples of this recording have data sources but no data addresses, so none names the "
              "memory it touched",
              "Record with `perf c2c record` or `perf mem record -d`.");
}

/// "Not available", all of them: no evidence of anything.
bool saysNothing(const Totals& totals) {
  const uint64_t samples = totals.tally[Counter::records];
  return samples > 0 && totals.tally[Counter::noParse] == samples;
}

/// There is no HITM on Arm: peer hits are what its data sources tell.
std::vector<std::string> evidenceOf(const Totals& totals, bool arm) {
  std::vector<std::string> list;
  if (saysNothing(totals)) return list;
  list.emplace_back(arm ? "peer" : "hitm");
  if (!arm && totals.peer) list.emplace_back("peer");
  if (totals.cycles) list.emplace_back("latency");
  return list;
}

analysis::C2cSettings settingsOf(const perfdata::Reader& reader, const Totals& totals, Display display,
                                 const Options& options) {
  analysis::C2cSettings settings;
  settings.display = displayName(display);
  const analysis::Coalesce& by = options.coalesce;
  for (const auto& [used, name] : {std::pair(by.tid, "tid"), std::pair(by.pid, "pid"),
                                   std::pair(by.iaddr, "iaddr"), std::pair(by.dso, "dso")})
    if (used) settings.coalesce.emplace_back(name);
  settings.doubleLine = options.doubleLine;
  for (const perfdata::Event& event : reader.events()) settings.events.push_back(event.name);
  for (const perfdata::NumaNode& node : reader.features().numaNodes)
    settings.nodes.emplace_back(node.node, node.cpus);
  settings.filtered = totals.filtered;
  return settings;
}

/// "HITMs".
const char* loadsName(const std::string& display) {
  if (display == displayName(Display::local)) return "local HITMs";
  if (display == displayName(Display::remote)) return "remote HITMs";
  return display == displayName(Display::peer) ? "peer hits" : "HITMs";
}

/// Where more lines have displayed loads than are summed.
std::string leftOutOfSums(const SummedLines& summed, const analysis::Report& report) {
  if (summed.leftLines() == 0) return {};
  const double share = static_cast<double>(summed.leftLoads()) / static_cast<double>(report.contended);
  char percent[16];
  std::snprintf(percent, sizeof percent, "%.1f%%", 100 * share);
  return std::string("The sums of objects and types leave out ") + percent + " of the " +
         loadsName(report.c2c->display) + ": of the lines with too few to be listed, " +
         std::to_string(summed.lines()) + " are in the sums and " + std::to_string(summed.leftLines()) +
         " are not (--show-all adds all).";
}

/// What only memory samples have to say.
std::vector<std::string> ownWarnings(const Readings& readings, const perfdata::Reader& reader,
                                     const analysis::Report& report) {
  std::vector<std::string> list = readings.warnings;
  const auto percent = [](uint64_t part, uint64_t whole) {
    return std::to_string((part * 200 + whole) / (2 * whole)) + "%";
  };
  const Survey& survey = readings.collector->survey;
  const uint64_t samples = survey.totals.tally[Counter::records],
                 none = survey.totals.tally[Counter::noParse];
  if (none * 20 > samples)
    list.push_back(percent(none, samples) +
                   " of the samples do not say where their data came from: they are not counted as accesses "
                   "and belong to no line.");
  if (std::string text = leftOutOfSums(survey.summed, report); !text.empty()) list.push_back(std::move(text));
  if (!hasBits(reader, PERF_SAMPLE_TIME) && !isSpe(reader))
    list.emplace_back("The samples carry no times: all threads of a line count as competing.");
  return list;
}

/// Empty where all watched lines are listed.
std::string unsampledWarning(const Readings& readings) {
  const auto unsampled = std::ranges::count_if(readings.watch->lines(), [&](const auto& line) {
    return readings.collector->table.find(line.position.space, line.position.offset) == kNone;
  });
  if (unsampled == 0) return {};
  return std::to_string(unsampled) + " of " + std::to_string(readings.watch->lines().size()) +
         " watched lines have no memory sample, so they are not listed; what was trapped there is in "
         "watch.data.";
}

}  // namespace

void analyzeMemory(Inputs& inputs, analysis::Report& report) {
  perfdata::Reader& reader = inputs.reader;
  const Options& options = inputs.options;
  checkHasAddresses(reader);
  const bool otherClock = inputs.watched && isSpe(reader);  // and it decodes x86-64 only
  if (otherClock) inputs.watched.reset();
  const bool blocksUnused = inputs.allocations && (isSpe(reader) || !hasBits(reader, PERF_SAMPLE_TIME));
  if (blocksUnused) inputs.allocations.reset();
  const bool arm = isArm(reader.features().arch);
  const Display display = options.display.value_or(arm ? Display::peer : Display::total);
  const auto made = std::make_shared<const Readings>(readSamples(inputs, display));
  const Readings& readings = *made;
  MemoryCollector& collector = *readings.collector;
  const Survey& survey = collector.survey;

  report.evidence = evidenceOf(survey.totals, arm);
  if (inputs.watched && !inputs.watched->windows.empty()) report.evidence.emplace_back("watch");
  if (report.collector.empty()) report.collector = "pmu";
  report.peerKnown = !saysNothing(survey.totals);
  report.hitmKnown = report.peerKnown && !arm;
  report.filtered = survey.totals.filtered;
  const bool cpusKnown = hasBits(reader, PERF_SAMPLE_CPU) || isSpe(reader);
  if (inputs.splits) {
    report.splits.emplace();
    report.splits->memory = true;
    report.splits->bins = inputs.splits->bins;
    report.splits->cpusKnown = cpusKnown;
  }
  report.c2c = settingsOf(reader, survey.totals, display, options);
  buildReport(collector, survey, readings.watch ? &*readings.watch : nullptr, display, options, report);

  std::vector<std::string> warnings;
  if (blocksUnused)
    warnings.emplace_back(
        "Heap blocks were recorded, but the samples have no times of the same clock. Only these tell blocks "
        "at one address apart, so the blocks are not used.");
  if (inputs.watched)
    if (std::string text = unsampledWarning(readings); !text.empty()) warnings.push_back(std::move(text));
  if (otherClock)
    warnings.emplace_back(
        "Watchpoints ran beside this recording, but its times are of another clock: their hits are in "
        "watch.data only.");
  std::ranges::move(ownWarnings(readings, reader, report), std::back_inserter(warnings));
  report.warnings = warningsOf({.recording = inputs.recording,
                                .reader = reader,
                                .timeline = collector.timeline,
                                .binaries = collector.binaries,
                                .allocations = inputs.allocations.get(),
                                .watched = inputs.watched.get(),
                                .cpusKnown = cpusKnown,
                                .callersLeftOut = collector.callers.leftOutWarning()},
                               report, std::move(warnings));
  collector.table.forget();  // texts need as much again
  report.source = made;
}

}  // namespace cacheline::sharing
