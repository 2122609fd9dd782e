// From a recording to advice.
#include "addon/advise_call.h"

#include <memory>
#include <utility>

#include "addon/analyze_call.h"
#include "addon/arguments.h"
#include "addon/job.h"
#include "advice/advice.h"

namespace cacheline::addon {

Napi::Value adviseCall(const Napi::CallbackInfo& info) {
  AnalyzeParameters parameters = analyzeParameters(Arguments(info[0]));
  parameters.c2c.history = true;
  parameters.c2c.showAll = true;
  return startJob(info.Env(), progressArgument(info), [parameters](JobContext& job) -> MakeValue {
    analysis::Report report = analyze(parameters, shareProgress(job));
    job.dropLater(andFreeMemory(std::const_pointer_cast<void>(std::exchange(report.source, nullptr))));
    return [text = advice::adviceJson(report, advice::advise(report))](Napi::Env env) {
      return Napi::String::New(env, text);
    };
  });
}

}  // namespace cacheline::addon
