// From a recording to what its threads did.
#include "addon/threads_call.h"

#include <rapidjson/document.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "addon/analyze_call.h"
#include "addon/arguments.h"
#include "addon/job.h"
#include "analysis/recording.h"
#include "analysis/timeline.h"
#include "base/error.h"
#include "profile/analyze.h"
#include "profile/sample_choice.h"
#include "scheduling/schedule.h"

namespace cacheline::addon {

namespace {

constexpr double kReportShare = 0.7;  // of the progress

/// From the first to the last sample, seconds.
double secondsOf(perfdata::Reader& reader) {
  struct Times : perfdata::RecordVisitor {
    void onSample(const perfdata::Sample& sample) override {
      if (!first) first = sample.time;
      last = std::max(last, sample.time);
    }
    std::optional<uint64_t> first;
    uint64_t last = 0;
  };
  if (const auto span = reader.sampleSpan()) return static_cast<double>(span->last - span->first) / 1e9;
  Times times;
  reader.readAll(times);
  return static_cast<double>(times.last - std::min(times.last, times.first.value_or(times.last))) / 1e9;
}

/// Why a recording has no context switches, by its meta.json.
std::string switchesReason(const analysis::Meta& meta) {
  rapidjson::Document document;
  document.Parse(meta.json.data(), meta.json.size());
  if (!document.HasParseError() && document.IsObject() && document.HasMember("switches")) {
    const rapidjson::Value& switches = document["switches"];
    if (switches.IsObject() && switches.HasMember("reason") && switches["reason"].IsString())
      return switches["reason"].GetString();
  }
  return "the recording has none";
}

/// Null where the recording cannot tell who waits for whom; `warnings` then says why.
std::optional<analysis::Report> reportOf(const AnalyzeParameters& parameters,
                                         const profile::Progress& progress,
                                         std::vector<std::string>& warnings) {
  try {
    return profile::analyze(parameters.path, parameters.c2c, progress);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unreadable) throw;
    warnings.push_back(std::string("contended time is not known: ") + error.what());
    return std::nullopt;
  }
}

std::string threadsJson(AnalyzeParameters parameters, size_t bins, JobContext& job) {
  const std::function<bool(double)> share = shareProgress(job);
  const analysis::Recording recording = analysis::openRecording(parameters.path);
  const auto reader = perfdata::Reader::open(recording.perfData);
  const profile::Query query = profile::parseQuery(parameters.filter);
  if (!query.lines.empty())
    throw Error(ErrorKind::usage, "the filter selects lines, but this is about threads",
                "Select threads, processes or a window of time.");
  sharing::Options& options = parameters.c2c;
  options.filter = profile::chosenSamples(
      parameters.path, options.filter, query.samples, [&] { return secondsOf(*reader); }, share);
  options.history = true;
  options.callers = scheduling::hasCallChains(*reader);
  std::vector<std::string> warnings;
  std::optional<analysis::Report> report = reportOf(
      parameters, [&](double done) { return share(done * kReportShare); }, warnings);
  const analysis::Timeline timeline = analysis::Timeline::of(*reader);
  analysis::Binaries binaries(reader->features(), recording.meta, options.symbols);
  const auto locks = scheduling::readLockWaits(recording.folder, timeline, binaries);
  scheduling::Schedule schedule = scheduling::scheduleOf(
      *reader, timeline, {.filter = options.filter, .bins = bins, .locks = locks ? &*locks : nullptr},
      report ? &*report : nullptr,
      [&](double done) { return share(kReportShare + done * (1 - kReportShare)); });
  for (const std::string& warning : reader->warnings()) warnings.push_back(warning);
  schedule.warnings.insert(schedule.warnings.begin(), warnings.begin(), warnings.end());
  if (report) job.dropLater(std::const_pointer_cast<void>(std::exchange(report->source, nullptr)));
  return scheduling::scheduleJson(schedule, switchesReason(recording.meta));
}

}  // namespace

Napi::Value threadsCall(const Napi::CallbackInfo& info) {
  const Arguments arguments(info[0]);
  const AnalyzeParameters parameters = analyzeParameters(arguments);
  const double bins = arguments.number("bins", static_cast<double>(scheduling::ScheduleOptions{}.bins));
  if (!(bins >= 1 && bins <= static_cast<double>(scheduling::kMostBins)))
    throw arguments.wrongValue("bins", ("1 to " + std::to_string(scheduling::kMostBins)).c_str());
  return startJob(info.Env(), progressArgument(info),
                  [parameters, bins = static_cast<size_t>(bins)](JobContext& job) -> MakeValue {
                    return [text = threadsJson(parameters, bins, job)](Napi::Env env) {
                      return Napi::String::New(env, text);
                    };
                  });
}

}  // namespace cacheline::addon
