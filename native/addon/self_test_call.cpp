// Runs the self-tests: records, analyses, judges.
#include "addon/self_test_call.h"

#include <exception>

#include "addon/analyze_call.h"
#include "addon/watch_words.h"
#include "analysis/self_test.h"
#include "base/error.h"
#include "record/self_test.h"

namespace cacheline::addon {
namespace {

record::RecordOptions optionsFor(const std::string& collector) {
  record::RecordOptions options;
  if (collector == "pmu") options.collector = record::CollectorChoice::pmu;
  if (collector == "clock") options.collector = record::CollectorChoice::clock;
  if (collector == "agent") options.collector = record::CollectorChoice::agent;
  if (collector == "watch")
    options.watch =
        watchOptions({{"queue.produced", "queue.consumed"}, false, record::WatchOptions().budget});
  return options;
}

record::SelfTest selfTest(const std::string& collector, const std::string& program,
                          const std::atomic<bool>& stop) {
  record::SelfTest test{collector, false, 0, ""};
  try {
    const record::SelfTestRecording recording(program, optionsFor(collector), stop);
    const record::RecordResult& result = recording.result();
    test.samples = collector == "watch" && result.watch ? result.watch->hits : result.samples;
    AnalyzeParameters parameters;
    parameters.path = recording.recording();
    const analysis::Report report = analyze(parameters, [&stop](double) { return !stop.load(); });
    const analysis::SelfTestFinding finding =
        collector == "watch" ? analysis::judgeWatchSelfTest(report) : analysis::judgeSelfTest(report);
    test.passed = finding.passed;
    test.found = finding.sentence;
  } catch (const Error& error) {
    test.found = error.what() + (error.nextStep().empty() ? "" : ". " + error.nextStep());
  } catch (const std::exception& error) {
    test.found = error.what();
  }
  return test;
}

}  // namespace

std::vector<record::SelfTest> runSelfTests(const record::Doctor& doctor, const std::string& program,
                                           const std::atomic<bool>& stop) {
  std::vector<record::SelfTest> tests;
  for (const record::CollectorState& collector : doctor.collectors)
    if (collector.usable && !stop.load()) tests.push_back(selfTest(collector.name, program, stop));
  return tests;
}

}  // namespace cacheline::addon
