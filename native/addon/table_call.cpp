// Keys and parts of the time of the table call.
#include "addon/table_call.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "addon/analyze_call.h"
#include "addon/arguments.h"
#include "addon/job.h"
#include "tables/table.h"

namespace cacheline::addon {
namespace {

constexpr double kMostBins = 10'000;

std::vector<tables::Key> keysOf(const Arguments& arguments) {
  std::vector<tables::Key> keys;
  for (const std::string& name : arguments.texts("by")) {
    const auto key = tables::keyOf(name);
    if (!key || (!keys.empty() && keys.front() == *key)) throw arguments.wrongValue("by", "different keys");
    keys.push_back(*key);
  }
  if (keys.empty() || keys.size() > 2) throw arguments.wrongValue("by", "one key or two");
  return keys;
}

uint32_t binsOf(const Arguments& arguments) {
  constexpr double kUsual = 20;
  const double bins = arguments.number("bins", kUsual);
  if (!(bins >= 1 && bins <= kMostBins)) throw arguments.wrongValue("bins", "a whole number from 1 to 10000");
  return static_cast<uint32_t>(bins);
}

}  // namespace

Napi::Value tableCall(const Napi::CallbackInfo& info) {
  const Arguments arguments(info[0]);
  AnalyzeParameters parameters = analyzeParameters(arguments);
  std::vector<tables::Key> by = keysOf(arguments);
  parameters.c2c.showAll = true;
  parameters.c2c.splits = tables::splitsFor(by, binsOf(arguments));
  return startJob(info.Env(), progressArgument(info),
                  [parameters = std::move(parameters), by = std::move(by)](JobContext& job) -> MakeValue {
                    const auto report =
                        std::make_shared<analysis::Report>(analyze(parameters, shareProgress(job)));
                    job.dropLater(report);
                    return [pieces = tables::tablePieces(tables::tableOf(*report, by))](Napi::Env env) {
                      Napi::Array texts = Napi::Array::New(env, pieces.size());
                      for (uint32_t i = 0; i < pieces.size(); ++i) texts.Set(i, pieces[i]);
                      return texts;
                    };
                  });
}

}  // namespace cacheline::addon
