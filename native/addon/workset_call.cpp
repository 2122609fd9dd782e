// From a recording to its working sets.
#include "addon/workset_call.h"

#include <memory>
#include <utility>

#include "addon/analyze_call.h"
#include "addon/arguments.h"
#include "addon/job.h"
#include "workset/workset.h"

namespace cacheline::addon {

Napi::Value worksetCall(const Napi::CallbackInfo& info) {
  const Arguments arguments(info[0]);
  AnalyzeParameters parameters = analyzeParameters(arguments);
  parameters.c2c.showAll = true;
  parameters.c2c.heapSites = true;
  parameters.c2c.splits = workset::splitsForSurvey();
  return startJob(
      info.Env(), progressArgument(info), [parameters = std::move(parameters)](JobContext& job) -> MakeValue {
        const auto report = std::make_shared<analysis::Report>(analyze(parameters, shareProgress(job)));
        job.dropLater(report);
        return [text = workset::surveyJson(*report, workset::surveyOf(*report))](Napi::Env env) {
          return Napi::String::New(env, text);
        };
      });
}

}  // namespace cacheline::addon
