// Parameters of the calls about types; the answers come from native/types.
#include "addon/type_calls.h"

#include <bit>
#include <string>

#include "addon/arguments.h"
#include "addon/job.h"
#include "layouts/queries.h"

namespace cacheline::addon {
namespace {

std::string required(const Arguments& arguments, const char* name) {
  std::string text = arguments.text(name);
  if (text.empty()) throw arguments.wrongValue(name, "a text that is not empty");
  return text;
}

layouts::LayoutOptions layoutOptions(const Arguments& arguments) {
  layouts::LayoutOptions options;
  const double lineSize = arguments.number("lineSize", static_cast<double>(options.lineSize));
  constexpr double kLargestLine = 4096;
  if (!(lineSize >= 1 && lineSize <= kLargestLine) || !std::has_single_bit(static_cast<uint64_t>(lineSize)))
    throw arguments.wrongValue("lineSize", "a power of two, at most 4096");
  options.lineSize = static_cast<uint64_t>(lineSize);
  options.expand = arguments.flag("expand");
  return options;
}

template <typename Ask>
Napi::Value answer(const Napi::CallbackInfo& info, Ask ask) {
  const Napi::Object job = startJob(info.Env(), {}, [ask](JobContext&) -> MakeValue {
    return [json = ask()](Napi::Env env) { return Napi::String::New(env, json); };
  });
  return job.Get("done");
}

}  // namespace

Napi::Value layoutCall(const Napi::CallbackInfo& info) {
  const Arguments arguments(info[0]);
  return answer(info,
                [binary = required(arguments, "binary"), name = required(arguments, "name"),
                 options = layoutOptions(arguments)] { return layouts::layoutsJson(binary, name, options); });
}

Napi::Value typesCall(const Napi::CallbackInfo& info) {
  const Arguments arguments(info[0]);
  return answer(info, [binary = required(arguments, "binary")] { return layouts::typesJson(binary); });
}

Napi::Value declarationsCall(const Napi::CallbackInfo& info) {
  const Arguments arguments(info[0]);
  return answer(info, [binary = required(arguments, "binary"), file = required(arguments, "file"),
                       options = layoutOptions(arguments)] {
    return layouts::declarationsJson(binary, file, options);
  });
}

}  // namespace cacheline::addon
