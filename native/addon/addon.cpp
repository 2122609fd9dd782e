// The Node-API boundary: version, record, suspects, forget, analyze, advise, table, threads, trace, open,
// filter, ask, close, doctor, calibrate, inspect, layout, types, declarations, where. Types are in
// extension/engine/native.ts.
#include <dlfcn.h>
#include <napi.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "addon/advise_call.h"
#include "addon/analyze_call.h"
#include "addon/arguments.h"
#include "addon/calibrate_call.h"
#include "addon/job.h"
#include "addon/output_capture.h"
#include "addon/profile_calls.h"
#include "addon/record_call.h"
#include "addon/self_test_call.h"
#include "addon/suspects_call.h"
#include "addon/table_call.h"
#include "addon/threads_call.h"
#include "addon/trace_call.h"
#include "addon/type_calls.h"
#include "addon/where_call.h"
#include "addon/workset_call.h"
#include "base/error.h"
#include "base/utf8.h"
#include "record/doctor.h"
#include "record/recorder.h"
#include "symbols/inspect.h"

namespace cacheline::addon {
namespace {

Napi::Value orNull(Napi::Env env, const std::optional<int>& value) {
  return value ? Napi::Number::New(env, *value) : env.Null();
}

Napi::Array textsValue(Napi::Env env, const std::vector<std::string>& texts) {
  Napi::Array array = Napi::Array::New(env, texts.size());
  for (uint32_t i = 0; i < texts.size(); i++) array.Set(i, texts[i]);
  return array;
}

Napi::Value progressValue(Napi::Env env, const record::RecordProgress& progress, const std::string& output) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("elapsedSeconds", progress.elapsedSeconds);
  object.Set("samples", static_cast<double>(progress.samples));
  object.Set("lost", static_cast<double>(progress.lost));
  object.Set("bytes", static_cast<double>(progress.bytes));
  if (!progress.news.empty()) object.Set("news", textsValue(env, progress.news));
  if (!output.empty()) object.Set("output", output);
  return object;
}

void setCollector(Napi::Object& object, const record::RecordResult& result) {
  const Napi::Env env = object.Env();
  object.Set("collector", result.collector);
  object.Set("collectorReason", result.collectorReason);
  Napi::Array notTaken = Napi::Array::New(env, result.notTaken.size());
  for (uint32_t i = 0; i < result.notTaken.size(); i++) {
    Napi::Object entry = Napi::Object::New(env);
    entry.Set("collector", result.notTaken[i].collector);
    entry.Set("reason", result.notTaken[i].reason);
    notTaken.Set(i, entry);
  }
  object.Set("notTaken", notTaken);
}

/// Before the first sample.
Napi::Value chosenValue(Napi::Env env, const record::RecordResult& result) {
  Napi::Object object = progressValue(env, {}, "").As<Napi::Object>();
  Napi::Object chosen = Napi::Object::New(env);
  setCollector(chosen, result);
  object.Set("chosen", chosen);
  return object;
}

Napi::Value resultValue(Napi::Env env, const record::RecordResult& result) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("exitStatus", orNull(env, result.exitStatus));
  object.Set("signal", orNull(env, result.signal));
  object.Set("interrupted", result.interrupted);
  object.Set("durationReached", result.durationReached);
  object.Set("samples", static_cast<double>(result.samples));
  object.Set("lost", static_cast<double>(result.lost));
  object.Set("bytes", static_cast<double>(result.bytes));
  object.Set("seconds", result.seconds);
  object.Set("programCpuSeconds", result.programCpuSeconds);
  object.Set("samplesWereDue", result.samplesWereDue);
  setCollector(object, result);
  if (result.watch) {
    Napi::Object watch = Napi::Object::New(env);
    watch.Set("hits", static_cast<double>(result.watch->hits));
    watch.Set("words", static_cast<double>(result.watch->words));
    watch.Set("watchedMs", result.watch->watchedMs);
    object.Set("watch", watch);
  } else {
    object.Set("watch", env.Null());
  }
  if (result.heap) {
    Napi::Object heap = Napi::Object::New(env);
    heap.Set("sampling", static_cast<double>(result.heap->sampling));
    heap.Set("blocks", static_cast<double>(result.heap->blocks));
    heap.Set("lost", static_cast<double>(result.heap->lost));
    object.Set("heap", heap);
  } else {
    object.Set("heap", env.Null());
  }
  if (result.trace) {
    Napi::Object trace = Napi::Object::New(env);
    trace.Set("instances", static_cast<double>(result.trace->instances));
    trace.Set("hits", static_cast<double>(result.trace->hits));
    object.Set("trace", trace);
  } else {
    object.Set("trace", env.Null());
  }
  object.Set("warnings", textsValue(env, result.warnings));
  return object;
}

/// Of this addon, with a slash at its end: agents and the self-test's program are shipped and built beside
/// it.
std::string ownFolder() {
  Dl_info self{};
  const std::string addon =
      ::dladdr(reinterpret_cast<void*>(&progressValue), &self) != 0 ? self.dli_fname : "";
  return addon.substr(0, addon.rfind('/') + 1);
}

/// Progress that asks for the suspects of the recording so far.
Napi::Value suspectsWanted(Napi::Env env, const std::string& folder) {
  Napi::Object object = progressValue(env, {}, "").As<Napi::Object>();
  object.Set("suspectsOf", folder);
  return object;
}

/// Answers that, with what suspects() resolved with, or why it did not.
Napi::Function tellFunction(Napi::Env env, const std::shared_ptr<Suspects>& suspects) {
  return Napi::Function::New(env, [suspects](const Napi::CallbackInfo& info) {
    const Arguments answer(info[0]);
    const std::string found = answer.text("found");
    try {
      if (found.empty())
        suspects->failed(answer.text("why"));
      else
        suspects->tell(found);
    } catch (const Error& error) {
      suspects->failed(error.what());
    }
  });
}

Napi::Value recordCall(const Napi::CallbackInfo& info) {
  const Arguments arguments(info[0]);
  record::RecordOptions options = recordOptions(arguments, ownFolder());
  const bool capture = arguments.text("stdio") == "capture";
  const auto watch = watchRequest(arguments);
  const auto trace = traceRequest(arguments, ownFolder());
  const auto suspects = watch && watch->confirm ? std::make_shared<Suspects>() : nullptr;

  Napi::Object started =
      startJob(info.Env(), progressArgument(info),
               [options, capture, watch, trace, suspects](JobContext& job) mutable -> MakeValue {
                 const Suspects::Ask ask = [&job](const std::string& folder) {
                   job.progress([folder](Napi::Env env) { return suspectsWanted(env, folder); });
                 };
                 // Looks at the words: may throw Error.
                 if (watch) options.watch = watchOptions(*watch, suspects, ask);
                 if (trace) options.trace = traceOptions(*trace);
                 std::unique_ptr<OutputCapture> output;
                 if (capture) {
                   output = std::make_unique<OutputCapture>();
                   options.stdoutFd = options.stderrFd = output->writeEnd();
                   options.stdinFromNull = true;
                 }
                 record::RecordProgress last;
                 const auto report = [&](const record::RecordProgress& progress) {
                   last = progress;
                   last.news.clear();
                   job.progress([progress, text = output ? output->take() : std::string()](Napi::Env env) {
                     return progressValue(env, progress, text);
                   });
                 };
                 options.chosen = [&](const record::RecordResult& result) {
                   job.progressFirst([result](Napi::Env env) { return chosenValue(env, result); });
                 };
                 const record::RecordResult result = record::record(options, job.stop(), report);
                 if (output) {
                   output->finish();
                   report(last);
                 }
                 return [result](Napi::Env env) { return resultValue(env, result); };
               });
  if (suspects) started.Set("tell", tellFunction(info.Env(), suspects));
  return started;
}

/// ASCII needs no decoding.
napi_value stringValue(Napi::Env env, const std::string& text) {
  if (!isAscii(text)) return Napi::String::New(env, text);
  napi_value value = nullptr;
  const napi_status status = napi_create_string_latin1(env, text.data(), text.size(), &value);
  if (status != napi_ok) throw Napi::Error::New(env);
  return value;
}

/// Each text is freed when JavaScript has its copy: there may be very much of it.
Napi::Value analysisValue(Napi::Env env, AnalysisTexts& texts) {
  Napi::Array pieces = Napi::Array::New(env, texts.pieces.size());
  for (uint32_t i = 0; i < texts.pieces.size(); i++)
    pieces.Set(i, stringValue(env, std::exchange(texts.pieces[i], {})));
  Napi::Array tables = Napi::Array::New(env, texts.tables.size());
  for (uint32_t i = 0; i < texts.tables.size(); i++) {
    const std::string table = std::exchange(texts.tables[i], {});
    tables.Set(i, Napi::Buffer<char>::Copy(env, table.data(), table.size()));
  }
  Napi::Object object = Napi::Object::New(env);
  object.Set("pieces", pieces);
  object.Set("tables", tables);
  return object;
}

Napi::Value analyzeCall(const Napi::CallbackInfo& info) {
  const Arguments arguments(info[0]);
  return startJob(info.Env(), progressArgument(info),
                  [parameters = analyzeParameters(arguments)](JobContext& job) -> MakeValue {
                    analysis::Report report = analyze(parameters, shareProgress(job));
                    const auto aside = std::make_shared<FreedAside>(parameters.c2c.threads);
                    job.dropLater(aside);
                    return [texts = textsOf(std::move(report), parameters, *aside)](Napi::Env env) mutable {
                      return analysisValue(env, texts);
                    };
                  });
}

Napi::Value doctorCall(const Napi::CallbackInfo& info) {
  const bool selfTest = Arguments(info[0]).flag("selfTest");
  const Napi::Object job = startJob(info.Env(), {}, [selfTest](JobContext& context) -> MakeValue {
    record::Doctor doctor = record::examineMachine(ownFolder() + "libcacheline_sampler.so");
    if (selfTest) doctor.selfTests = runSelfTests(doctor, ownFolder() + "cacheline_selftest", context.stop());
    return [json = record::doctorJson(doctor)](Napi::Env env) { return Napi::String::New(env, json); };
  });
  return job.Get("done");
}

Napi::Value calibrateCall(const Napi::CallbackInfo& info) {
  return startJob(info.Env(), {}, [](JobContext& job) -> MakeValue {
    return [json = calibrate(job.stop())](Napi::Env env) { return Napi::String::New(env, json); };
  });
}

Napi::Value whereCall(const Napi::CallbackInfo& info) {
  return startJob(
      info.Env(), progressArgument(info),
      [options = whereOptions(Arguments(info[0]))](JobContext& job) { return whereWork(options, job); });
}

Napi::Value inspectCall(const Napi::CallbackInfo& info) {
  const Napi::Object job =
      startJob(info.Env(), {}, [paths = textArray(info[0], "paths")](JobContext&) -> MakeValue {
        std::vector<symbols::BinaryInfo> infos;
        for (const std::string& path : paths) infos.push_back(symbols::inspectBinary(path));
        return [paths, infos](Napi::Env env) {
          Napi::Array array = Napi::Array::New(env, infos.size());
          for (uint32_t i = 0; i < infos.size(); i++) {
            Napi::Object object = Napi::Object::New(env);
            object.Set("path", paths[i]);
            object.Set("kind", symbols::binaryKindName(infos[i].kind));
            object.Set("debugInfo", infos[i].debugInfo);
            object.Set("staticallyLinked", infos[i].staticallyLinked);
            object.Set("architecture", infos[i].architecture);
            object.Set("buildId", infos[i].buildId);
            object.Set("interpreter", infos[i].interpreter);
            array.Set(i, object);
          }
          return array;
        };
      });
  return job.Get("done");
}

Napi::Object initialize(Napi::Env env, Napi::Object exports) {
  exports.Set("version", Napi::Function::New(env, [](const Napi::CallbackInfo& info) {
                return Napi::String::New(info.Env(), CACHELINE_VERSION);
              }));
  exports.Set("record", Napi::Function::New(env, recordCall));
  exports.Set("suspects", Napi::Function::New(env, suspectsCall));
  exports.Set("forget", Napi::Function::New(env, forgetCall));
  exports.Set("analyze", Napi::Function::New(env, analyzeCall));
  exports.Set("advise", Napi::Function::New(env, adviseCall));
  exports.Set("table", Napi::Function::New(env, tableCall));
  exports.Set("workset", Napi::Function::New(env, worksetCall));
  exports.Set("sums", Napi::Function::New(env, sumsCall));
  exports.Set("threads", Napi::Function::New(env, threadsCall));
  exports.Set("trace", Napi::Function::New(env, traceCall));
  exports.Set("open", Napi::Function::New(env, openCall));
  exports.Set("filter", Napi::Function::New(env, filterCall));
  exports.Set("ask", Napi::Function::New(env, askCall));
  exports.Set("close", Napi::Function::New(env, closeCall));
  exports.Set("doctor", Napi::Function::New(env, doctorCall));
  exports.Set("calibrate", Napi::Function::New(env, calibrateCall));
  exports.Set("where", Napi::Function::New(env, whereCall));
  exports.Set("inspect", Napi::Function::New(env, inspectCall));
  exports.Set("layout", Napi::Function::New(env, layoutCall));
  exports.Set("types", Napi::Function::New(env, typesCall));
  exports.Set("declarations", Napi::Function::New(env, declarationsCall));
  return exports;
}

}  // namespace
}  // namespace cacheline::addon

static Napi::Object initializeAddon(Napi::Env env, Napi::Object exports) {
  return cacheline::addon::initialize(env, exports);
}
NODE_API_MODULE(cacheline, initializeAddon)
