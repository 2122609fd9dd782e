// From RecordParams to record::RecordOptions.
#include "addon/record_call.h"

#include <map>

namespace cacheline::addon {
namespace {

constexpr double kMostCount = 1e15;  // a JavaScript number holds it exactly

/// A whole number from `least` on; `fallback` where absent.
uint64_t count(const Arguments& arguments, const char* name, double least, uint64_t fallback) {
  const double value = arguments.number(name, static_cast<double>(fallback));
  if (!(value >= least && value <= kMostCount))
    throw arguments.wrongValue(
        name, ("a whole number from " + std::to_string(static_cast<int>(least)) + " on").c_str());
  return static_cast<uint64_t>(value);
}

/// The value of one of a few words; `fallback` where absent.
template <typename Value>
Value choice(const Arguments& arguments, const char* name, const std::map<std::string, Value>& words,
             Value fallback) {
  const std::string word = arguments.text(name);
  if (word.empty()) return fallback;
  const auto found = words.find(word);
  if (found != words.end()) return found->second;
  std::string wanted = "one of";
  for (const auto& entry : words) wanted += (wanted.size() > 6 ? ", " : " ") + entry.first;
  throw arguments.wrongValue(name, wanted.c_str());
}

record::Target target(const Arguments& arguments) {
  using Kind = record::Target::Kind;
  record::Target target;
  if (const auto attach = arguments.object("attach")) {
    target.kind =
        choice<Kind>(*attach, "kind",
                     {{"processes", Kind::processes}, {"threads", Kind::threads}, {"system", Kind::system}},
                     Kind::processes);
    if (target.kind != Kind::system)
      for (const uint32_t id : attach->numbers("ids")) target.ids.push_back(static_cast<pid_t>(id));
  }
  target.cpus = arguments.numbers("cpus");
  target.children = arguments.flag("children", true);
  target.descendants = arguments.flag("descendants");
  return target;
}

}  // namespace

record::RecordOptions recordOptions(const Arguments& arguments, const std::string& folder) {
  record::RecordOptions options;
  options.collector = choice<record::CollectorChoice>(arguments, "collector",
                                                      {{"auto", record::CollectorChoice::automatic},
                                                       {"pmu", record::CollectorChoice::pmu},
                                                       {"clock", record::CollectorChoice::clock},
                                                       {"agent", record::CollectorChoice::agent}},
                                                      record::CollectorChoice::automatic);
  options.agentLibrary = folder + "libcacheline_sampler.so";
  options.target = target(arguments);
  options.command = arguments.texts("command");
  options.workingDirectory = arguments.text("workingDirectory");
  options.environment = arguments.texts("environment");
  options.outputDirectory = arguments.text("outputDirectory");
  const double frequency = arguments.number("frequency", options.frequency);
  if (!(frequency >= 1 && frequency <= 1e9))
    throw arguments.wrongValue("frequency", "1 or more samples a second");
  options.frequency = static_cast<uint32_t>(frequency);
  options.frequencyGiven = arguments.flag("frequencyGiven");
  options.period = count(arguments, "period", 0, 0);
  options.ldlat = static_cast<uint32_t>(count(arguments, "ldlat", 0, options.ldlat));
  options.durationSeconds = arguments.number("durationSeconds", 0);
  const std::string mode = arguments.text("mode");
  options.userOnly = mode == "user";
  options.kernelOnly = mode == "kernel";
  if (!mode.empty() && !options.userOnly && !options.kernelOnly)
    throw arguments.wrongValue("mode", "user or kernel");
  options.physicalAddresses = arguments.flag("physicalAddresses");
  options.ringBytes = count(arguments, "ringBytes", 0, 0);
  options.callGraph = choice<record::CallGraph>(arguments, "callGraph",
                                                {{"fp", record::CallGraph::framePointers},
                                                 {"dwarf", record::CallGraph::dwarf},
                                                 {"lbr", record::CallGraph::branchStack}},
                                                record::CallGraph::none);
  options.switches = arguments.flag("switches", true);
  if (const auto control = arguments.object("control"))
    options.control = record::ControlFifo{control->text("command"), control->text("acknowledge"),
                                          control->flag("startDisabled")};
  if (const auto heap = arguments.object("heap")) {
    const double sampling = heap->number("sampling", 64);
    if (!(sampling >= 1 && sampling <= 1e9)) throw heap->wrongValue("sampling", "1 or more blocks");
    options.heap = record::HeapOptions{folder + "libcacheline_heap.so", static_cast<uint64_t>(sampling)};
  }
  return options;
}

std::optional<WatchRequest> watchRequest(const Arguments& arguments) {
  const auto watch = arguments.object("watch");
  if (!watch) return std::nullopt;
  const double budget = watch->number("budget", record::WatchOptions().budget);
  if (!(budget > 0 && budget <= 1)) throw watch->wrongValue("budget", "more than 0 and at most 1");
  return WatchRequest{watch->texts("expressions"), watch->flag("confirm"), budget};
}

}  // namespace cacheline::addon
