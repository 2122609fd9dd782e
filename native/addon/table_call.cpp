// Keys and parts of the time of the calls about tables.
#include "addon/table_call.h"

#include <algorithm>
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

using Keys = std::vector<tables::Key>;

Keys keysOf(const Arguments& arguments, const std::vector<std::string>& names) {
  Keys keys;
  for (const std::string& name : names) {
    const auto key = tables::keyOf(name);
    if (!key || std::ranges::find(keys, *key) != keys.end())
      throw arguments.wrongValue("by", "different keys");
    keys.push_back(*key);
  }
  if (keys.empty() || keys.size() > tables::kMostKeys) throw arguments.wrongValue("by", "one to three keys");
  return keys;
}

/// "type,member": the keys of one table.
std::vector<std::string> namesIn(const std::string& text) {
  std::vector<std::string> names(1);
  for (const char character : text)
    if (character == ',')
      names.emplace_back();
    else
      names.back() += character;
  return names;
}

Napi::Array arrayOf(Napi::Env env, const std::vector<std::string>& pieces) {
  Napi::Array texts = Napi::Array::New(env, pieces.size());
  for (uint32_t i = 0; i < pieces.size(); ++i) texts.Set(i, pieces[i]);
  return texts;
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
  Keys by = keysOf(arguments, arguments.texts("by"));
  parameters.c2c.showAll = true;
  parameters.c2c.splits = tables::splitsFor(by, binsOf(arguments));
  return startJob(info.Env(), progressArgument(info),
                  [parameters = std::move(parameters), by = std::move(by)](JobContext& job) -> MakeValue {
                    const auto report =
                        std::make_shared<analysis::Report>(analyze(parameters, shareProgress(job)));
                    job.dropLater(report);
                    return [pieces = tables::tablePieces(tables::tableOf(*report, by))](Napi::Env env) {
                      return arrayOf(env, pieces);
                    };
                  });
}

Napi::Value sumsCall(const Napi::CallbackInfo& info) {
  const Arguments arguments(info[0]);
  AnalyzeParameters parameters = analyzeParameters(arguments);
  std::vector<Keys> tables;
  Keys all;
  const bool lines = arguments.flag("lines");
  for (const std::string& text : arguments.texts("by")) {
    tables.push_back(keysOf(arguments, namesIn(text)));
    all.insert(all.end(), tables.back().begin(), tables.back().end());
  }
  parameters.c2c.showAll = true;
  parameters.c2c.splits = tables::splitsFor(all, binsOf(arguments));
  return startJob(
      info.Env(), progressArgument(info),
      [parameters = std::move(parameters), tables = std::move(tables), lines](JobContext& job) -> MakeValue {
        const auto report = std::make_shared<analysis::Report>(analyze(parameters, shareProgress(job)));
        job.dropLater(report);
        std::vector<std::vector<std::string>> pieces;
        for (const Keys& by : tables) pieces.push_back(tables::tablePieces(tables::tableOf(*report, by)));
        if (!lines) {
          const auto all = std::make_shared<std::vector<analysis::Line>>(std::exchange(report->lines, {}));
          for (analysis::Line& line : *all)
            if (line.ifWritten) report->lines.push_back(std::move(line));
          job.dropLater(all);
        }
        return [document = analysis::reportPieces(*report), pieces = std::move(pieces)](Napi::Env env) {
          Napi::Object sums = Napi::Object::New(env);
          sums.Set("report", arrayOf(env, document));
          Napi::Array texts = Napi::Array::New(env, pieces.size());
          for (uint32_t i = 0; i < pieces.size(); ++i) texts.Set(i, arrayOf(env, pieces[i]));
          sums.Set("tables", texts);
          return sums;
        };
      });
}

}  // namespace cacheline::addon
