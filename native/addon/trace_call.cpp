// The type is looked up in the binaries of the program, then in what its processes have mapped.
#include "addon/trace_call.h"

#include <map>
#include <utility>
#include <vector>

#include "addon/job.h"
#include "record/procfs.h"
#include "record/watch_threads.h"
#include "traces/trace.h"
#include "traces/type_finder.h"

namespace cacheline::addon {
namespace {

constexpr double kMostInstances = 1e6;

std::vector<traces::MappedPart> partsOf(pid_t pid) {
  const std::string root = record::foreignRoot(pid);
  std::vector<traces::MappedPart> parts;
  for (const record::MappedPiece& piece : record::mappingsOf(pid))
    if (piece.path.starts_with('/'))
      parts.push_back({piece.start, piece.end, piece.fileOffset, root + piece.path});
  return parts;
}

/// What processes have mapped; read again where it does not hold a call chain's innermost frames.
class Mappings {
 public:
  const std::vector<traces::MappedPart>& holding(pid_t pid, std::span<const uint64_t> frames) {
    std::vector<traces::MappedPart>& parts = parts_[pid];
    const bool known =
        std::ranges::all_of(frames.first(std::min<size_t>(frames.size(), 2)), [&](uint64_t frame) {
          return std::ranges::any_of(
              parts, [&](const traces::MappedPart& part) { return frame >= part.start && frame < part.end; });
        });
    if (!known || frames.empty()) parts = partsOf(pid);
    return parts;
  }

 private:
  std::map<pid_t, std::vector<traces::MappedPart>> parts_;
};

}  // namespace

std::optional<TraceRequest> traceRequest(const Arguments& arguments, const std::string& folder) {
  const auto trace = arguments.object("trace");
  if (!trace) return std::nullopt;
  const record::TraceOptions standard;
  TraceRequest request{trace->text("type"), folder + "libcacheline_heap.so",
                       trace->number("budget", standard.budget), standard.instances};
  if (request.expression.empty()) throw trace->wrongValue("type", "a type, or a type and its member");
  if (!(request.budget > 0 && request.budget <= 1))
    throw trace->wrongValue("budget", "more than 0 and at most 1");
  const double instances = trace->number("instances", static_cast<double>(standard.instances));
  if (!(instances >= 1 && instances <= kMostInstances))
    throw trace->wrongValue("instances", "a whole number from 1 to 1000000");
  request.instances = static_cast<uint64_t>(instances);
  return request;
}

record::TraceOptions traceOptions(const TraceRequest& request) {
  record::TraceOptions options;
  options.agent = request.agent;
  options.budget = request.budget;
  options.instances = request.instances;
  const auto finder = std::make_shared<traces::TypeFinder>(request.expression);
  const auto mappings = std::make_shared<Mappings>();
  options.subject = [finder](const symbols::LinkedFiles& files) {
    const traces::FoundType& found = finder->find(files.paths);
    record::TraceSubject subject{found.name, found.member, found.size, {}};
    for (const traces::TypeWord& word : found.words) subject.words.push_back({word.offset, word.length});
    return subject;
  };
  options.place = [finder, mappings](pid_t pid, std::span<const uint64_t> frames, uint64_t size) {
    return finder->placeIn(mappings->holding(pid, frames), frames, size);
  };
  options.variables = [finder, mappings](pid_t pid) {
    std::vector<record::TraceObject> list;
    for (const traces::FoundVariable& variable : finder->variables(mappings->holding(pid, {})))
      list.push_back({pid, variable.address, variable.name});
    return list;
  };
  return options;
}

Napi::Value traceCall(const Napi::CallbackInfo& info) {
  return startJob(info.Env(), {}, [path = Arguments(info[0]).text("path")](JobContext&) -> MakeValue {
    return [json = traces::traceJson(traces::traceOf(path))](Napi::Env env) {
      return Napi::String::New(env, json);
    };
  });
}

}  // namespace cacheline::addon
