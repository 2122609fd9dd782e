// From WhereParams to record::WhereOptions, and from its result to WhereOutcome.
#include "addon/where_call.h"

#include <string>

#include "machine/where_json.h"

namespace cacheline::addon {
namespace {

constexpr double kHighestPid = 4'194'304;  // PID_MAX_LIMIT of Linux on 64-bit machines

Napi::Value numberOrNull(Napi::Env env, const std::optional<int>& number) {
  return number ? Napi::Value(Napi::Number::New(env, *number)) : env.Null();
}

}  // namespace

record::WhereOptions whereOptions(const Arguments& arguments) {
  record::WhereOptions options;
  const double pid = arguments.number("pid", 0);
  if (!(pid >= 0 && pid <= kHighestPid)) throw arguments.wrongValue("pid", "a process id");
  options.pid = static_cast<pid_t>(pid);
  options.command = arguments.texts("command");
  options.seconds = arguments.number("seconds", options.seconds);
  if (options.pid == 0 && options.command.empty()) throw arguments.wrongValue("command", "a program");
  return options;
}

MakeValue whereWork(const record::WhereOptions& options, JobContext& job) {
  const record::WhereResult result = record::where(options, job.stop(), [&job](double seconds) {
    job.progress([seconds](Napi::Env env) { return Napi::Number::New(env, seconds); });
  });
  std::vector<std::string> command = options.command;
  // Of a program that numactl started, the line is for the program alone.
  const bool bound = !command.empty() && ("/" + command[0]).ends_with("/numactl");
  if ((command.empty() || bound) && !result.placement.processes.empty())
    command = result.placement.processes[0].command;
  return [result, json = machine::whereJson(result.topology, result.placement, command)](Napi::Env env) {
    Napi::Object object = Napi::Object::New(env);
    object.Set("where", json);
    object.Set("exitStatus", numberOrNull(env, result.ending ? result.ending->exitStatus : std::nullopt));
    object.Set("signal", numberOrNull(env, result.ending ? result.ending->signal : std::nullopt));
    object.Set("interrupted", result.interrupted);
    return object;
  };
}

}  // namespace cacheline::addon
