// Open profiles by their handles, and the questions by their names.
#include "addon/profile_calls.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "addon/analyze_call.h"
#include "addon/arguments.h"
#include "addon/job.h"
#include "base/error.h"
#include "profile/profile.h"

namespace cacheline::addon {
namespace {

using profile::Profile;

/// A handle is never used twice.
class OpenProfiles {
 public:
  uint32_t add(std::shared_ptr<Profile> profile) {
    const std::lock_guard lock(mutex_);
    profiles_.emplace(++last_, std::move(profile));
    return last_;
  }
  std::shared_ptr<Profile> at(uint32_t handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = profiles_.find(handle);
    if (found == profiles_.end())
      throw Error(ErrorKind::usage, "no profile is open by the handle " + std::to_string(handle));
    return found->second;
  }
  void close(uint32_t handle) {
    const std::lock_guard lock(mutex_);
    profiles_.erase(handle);
  }

 private:
  mutable std::mutex mutex_;
  std::map<uint32_t, std::shared_ptr<Profile>> profiles_;
  uint32_t last_ = 0;
};

OpenProfiles& openProfiles() {
  static OpenProfiles profiles;
  return profiles;
}

uint32_t handleOf(const Arguments& arguments) {
  const double handle = arguments.number("handle", 0);
  if (!(handle >= 1 && handle <= 0xffffffff)) throw arguments.wrongValue("handle", "that of an open profile");
  return static_cast<uint32_t>(handle);
}

size_t sizeOf(const Arguments& arguments, const char* name, size_t fallback) {
  const double number = arguments.number(name, static_cast<double>(fallback));
  if (!(number >= 0 && number <= 0xffffffff)) throw arguments.wrongValue(name, "a whole number from 0 up");
  return static_cast<size_t>(number);
}

profile::Range rangeOf(const Arguments& arguments) {
  constexpr size_t kAll = 0xffffffff;
  return {sizeOf(arguments, "offset", 0), sizeOf(arguments, "count", kAll)};
}

profile::Measure measureOf(const Arguments& arguments) {
  if (const auto measure = profile::measureOf(arguments.text("measure"))) return *measure;
  throw arguments.wrongValue("measure", "hitm, localHitm, remoteHitm, peer, latency or contended");
}

std::optional<profile::LineChoice> choiceOf(const Arguments& arguments) {
  const auto only = arguments.object("only");
  if (!only) return std::nullopt;
  profile::LineChoice choice;
  if (const auto place = only->object("place"))
    choice.place = analysis::Place{place->text("file"), static_cast<uint32_t>(sizeOf(*place, "line", 0))};
  choice.types = only->texts("types");
  if (std::string object = only->text("object"); !object.empty()) choice.object = std::move(object);
  return choice;
}

profile::LinesQuestion linesQuestion(const Arguments& arguments) {
  profile::LinesQuestion question;
  question.filter = arguments.text("filter");
  question.only = choiceOf(arguments);
  if (std::string sort = arguments.text("sort"); !sort.empty()) question.sort = std::move(sort);
  question.descending = arguments.flag("descending", true);
  question.range = rangeOf(arguments);
  question.accesses = arguments.flag("accesses", true);
  return question;
}

using Ask = std::function<std::string(const Profile&, const profile::KeepOn&)>;

Ask questionOf(const Arguments& arguments) {
  const std::string name = arguments.text("question");
  if (name == "lines")
    return [question = linesQuestion(arguments)](const Profile& profile, const profile::KeepOn& keepOn) {
      return profile.lines(question, keepOn);
    };
  if (name == "rows")
    return [question = linesQuestion(arguments)](const Profile& profile, const profile::KeepOn& keepOn) {
      return profile.rows(question, keepOn);
    };
  if (name == "line")
    return [id = arguments.text("id")](const Profile& profile, const auto&) { return profile.line(id); };
  if (name == "heat")
    return [file = arguments.text("file"), measure = measureOf(arguments)](const Profile& profile,
                                                                           const profile::KeepOn& keepOn) {
      return profile.heat(file, measure, keepOn);
    };
  if (name == "code")
    return [id = arguments.text("id"), access = static_cast<uint32_t>(sizeOf(arguments, "access", 0))](
               const Profile& profile, const profile::KeepOn& keepOn) {
      return profile.code(id, access, keepOn);
    };
  if (name == "places")
    return [](const Profile& profile, const profile::KeepOn& keepOn) { return profile.places(keepOn); };
  if (name == "data")
    return [measure = measureOf(arguments)](const Profile& profile, const profile::KeepOn& keepOn) {
      return profile.data(measure, keepOn);
    };
  for (const auto& [list, rows] :
       {std::pair("objects", &Profile::objects), std::pair("types", &Profile::types),
        std::pair("functions", &Profile::functions), std::pair("threads", &Profile::threads)})
    if (name == list)
      return [rows, range = rangeOf(arguments)](const Profile& profile, const auto&) {
        return (profile.*rows)(range);
      };
  throw arguments.wrongValue(
      "question", "lines, rows, line, code, objects, types, functions, threads, heat, places or data");
}

/// What the report was made from takes a while to be freed: the answer does not wait for it.
void dropSource(JobContext& job, Profile& profile) {
  job.dropLater(andFreeMemory(std::const_pointer_cast<void>(profile.takeSource())));
}

}  // namespace

Napi::Value openCall(const Napi::CallbackInfo& info) {
  static std::once_flag first;
  std::call_once(first, keepArenasForQuestions, info.Env());
  return startJob(info.Env(), progressArgument(info),
                  [parameters = analyzeParameters(Arguments(info[0]))](JobContext& job) -> MakeValue {
                    auto opened = std::make_shared<Profile>(parameters.path, parameters.c2c,
                                                            parameters.filter, shareProgress(job));
                    dropSource(job, *opened);
                    return [summary = opened->summary(), handle = openProfiles().add(opened)](Napi::Env env) {
                      Napi::Object object = Napi::Object::New(env);
                      object.Set("handle", handle);
                      object.Set("summary", summary);
                      return object;
                    };
                  });
}

Napi::Value filterCall(const Napi::CallbackInfo& info) {
  const Arguments arguments(info[0]);
  return startJob(
      info.Env(), progressArgument(info),
      [handle = handleOf(arguments), text = arguments.text("filter")](JobContext& job) -> MakeValue {
        const std::shared_ptr<Profile> opened = openProfiles().at(handle);
        opened->filter(text, shareProgress(job));
        dropSource(job, *opened);
        return [summary = opened->summary()](Napi::Env env) { return Napi::String::New(env, summary); };
      });
}

Napi::Value askCall(const Napi::CallbackInfo& info) {
  const Arguments arguments(info[0]);
  return startQuestion(info.Env(),
                       [handle = handleOf(arguments), ask = questionOf(arguments)](const auto& keepOn) {
                         return ask(*openProfiles().at(handle), keepOn);
                       });
}

void closeCall(const Napi::CallbackInfo& info) {
  openProfiles().close(handleOf(Arguments(info[0])));
}

}  // namespace cacheline::addon
