// The document `cacheline-trace/1`.
#include "base/json_writer.h"
#include "traces/trace.h"

namespace cacheline::traces {
namespace {

class TraceWriter : JsonWriter {
 public:
  std::string of(const Trace& trace) {
    open();
    field("schema", "cacheline-trace/1");
    field("type", trace.type);
    if (trace.member.empty())
      null("member");
    else
      field("member", trace.member);
    field("instances", trace.instances);
    field("truncated", trace.truncated);
    field("accesses", trace.accesses);
    if (trace.overhead)
      field("overhead", *trace.overhead);
    else
      null("overhead");
    field("costReason", "no recording of samples is given (--costs)");
    list("paths", trace.paths, [this](const Path& path) { add(path); });
    list("warnings", trace.warnings, [this](const std::string& warning) { value(warning); });
    close();
    return take();
  }

 private:
  void add(const Path& path) {
    open();
    field("count", path.count);
    field("truncated", path.truncated);
    if (path.allocatedIn)
      field("allocatedIn", *path.allocatedIn);
    else
      null("allocatedIn");
    if (path.freed) {
      open("freed");
      field("function", path.freed->function);
      field("place", path.freed->place);
      field("cpuChanged", path.freed->cpuChanged);
      field("sinceAllocNs", path.freed->sinceAllocNs);
      close();
    } else {
      null("freed");
    }
    list("steps", path.steps, [this](const PathStep& step) {
      open();
      field("function", step.function);
      list("members", step.members, [this](const TracedMember& member) { value(member.name); });
      field("place", step.place);
      field("cpuChanged", step.cpuChanged);
      field("access", stepKindName(step.kind));
      field("repeated", step.repeated);
      field("sinceAllocNs", step.sinceAllocNs);
      null("cost");
      close();
    });
    field("moreSteps", path.moreSteps);
    close();
  }
};

}  // namespace

std::string traceJson(const Trace& trace) {
  return TraceWriter().of(trace);
}

}  // namespace cacheline::traces
