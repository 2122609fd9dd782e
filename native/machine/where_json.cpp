// Writing of cacheline-where/1, and of its parts that recordings keep.
#include "machine/where_json.h"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/json_writer.h"
#include "machine/conclusion.h"

namespace cacheline::machine {
namespace {

constexpr std::array<const char*, kMemoryKinds> kKindNames{"huge", "heap", "stack", "other"};

using Core = std::tuple<std::optional<uint32_t>, std::optional<uint32_t>, uint32_t>;  // package, die, core

class WhereWriter : JsonWriter {
 public:
  explicit WhereWriter(const Topology& topology) : topology_(topology) {}

  std::string machine() {
    open();
    field("numa", topology_.numa);
    std::map<uint32_t, std::vector<uint32_t>> packages;
    std::map<Core, std::vector<uint32_t>> cores;
    for (const Cpu& cpu : topology_.cpus) {
      if (cpu.package) packages[*cpu.package].push_back(cpu.id);
      if (cpu.core) cores[{cpu.package, cpu.die, *cpu.core}].push_back(cpu.id);
    }
    list("packages", packages, [&](const auto& package) {
      open();
      field("id", package.first);
      numbers("cpus", package.second);
      close();
    });
    list("cores", cores, [&](const auto& core) {
      open();
      number("package", std::get<0>(core.first));
      number("die", std::get<1>(core.first));
      field("id", std::get<2>(core.first));
      numbers("cpus", core.second);
      close();
    });
    list("caches", topology_.caches, [&](const Cache& cache) {
      open();
      field("level", cache.level);
      field("type", cache.type);
      optional("bytes", cache.bytes);
      optional("lineSize", cache.lineBytes);
      optional("ways", cache.ways);
      numbers("cpus", cache.cpus);
      close();
    });
    list("nodes", topology_.nodes, [&](const Node& node) {
      open();
      field("id", node.id);
      numbers("cpus", node.cpus);
      optional("memoryBytes", node.memoryBytes);
      optional("freeBytes", node.freeBytes);
      numbers("distances", node.distances);
      close();
    });
    close();
    return take();
  }

  std::string summary(const Placement& placement) {
    open();
    field("seconds", placement.seconds);
    field("looks", placement.threadLooks);
    nodes(placement);
    list("threads", placement.threads, [&](const ThreadPlace& thread) {
      if (thread.ran.empty()) return;
      open();
      identity(thread);
      times("cpuRunNs", thread.ran);
      close();
    });
    close();
    return take();
  }

  std::string where(const Placement& placement, const std::vector<std::string>& command) {
    const std::string machineJson = topologyJson(topology_);
    const Conclusion conclusion = concludeFrom(topology_, placement, command);
    open();
    field("schema", "cacheline-where/1");
    field("seconds", placement.seconds);
    raw("machine", machineJson);
    nodes(placement);
    list("processes", placement.processes, [&](const ProcessPlace& process) { this->process(process); });
    list("threads", placement.threads, [&](const ThreadPlace& one) { thread(one, placement); });
    open("unlisted");
    field("threads", placement.unlistedThreads);
    times("runNs", timesByNode(placement.unlisted, topology_));
    close();
    timeline(placement);
    open("looks");
    field("threads", placement.threadLooks);
    field("memory", placement.memoryLooks);
    close();
    if (placement.memoryReason.empty())
      null("memoryReason");
    else
      field("memoryReason", placement.memoryReason);
    null("remoteShare");
    beginList("warnings");  // of recordings alone
    endList();
    field("conclusion", conclusion.text);
    if (conclusion.command.empty())
      null("command");
    else
      field("command", conclusion.command);
    close();
    return take();
  }

 private:
  void number(const char* name, const std::optional<uint32_t>& value) {
    if (value)
      field(name, *value);
    else
      null(name);
  }

  void times(const char* name, const std::map<uint32_t, uint64_t>& amounts) {
    open(name);
    for (const auto& [id, ns] : amounts) field(std::to_string(id).c_str(), ns);
    close();
  }

  void identity(const ThreadPlace& thread) {
    field("tid", static_cast<uint32_t>(thread.tid));
    field("pid", static_cast<uint32_t>(thread.pid));
    field("name", thread.name);
  }

  /// Those of the machine, and those that memory was found on besides.
  void nodes(const Placement& placement) {
    std::set<uint32_t> ids;
    for (const Node& node : topology_.nodes) ids.insert(node.id);
    if (placement.memory)
      for (const auto& [id, kinds] : *placement.memory) ids.insert(id);
    list("nodes", ids, [&](uint32_t id) {
      const Node* const known = topology_.node(id);
      open();
      field("id", id);
      numbers("cpus", known == nullptr ? std::vector<uint32_t>() : known->cpus);
      if (!placement.memory) {
        nulls({"bytes", "kinds"});
      } else {
        const auto found = placement.memory->find(id);
        const auto kinds =
            found == placement.memory->end() ? std::array<uint64_t, kMemoryKinds>{} : found->second;
        field("bytes", bytesOf(kinds));
        open("kinds");
        for (size_t i = 0; i < kMemoryKinds; i++) field(kKindNames[i], kinds[i]);
        close();
      }
      close();
    });
  }

  void process(const ProcessPlace& process) {
    open();
    field("pid", static_cast<uint32_t>(process.pid));
    field("name", process.name);
    list("command", process.command, [&](const std::string& word) { value(word); });
    numbers("allowedCpus", process.allowedCpus);
    numbers("allowedNodes", process.allowedNodes);
    field("ended", process.ended);
    field("missedNs", process.missedNs);
    close();
  }

  void thread(const ThreadPlace& thread, const Placement& placement) {
    open();
    identity(thread);
    times("runNs", timesByNode(thread.ran, topology_));
    times("cpuRunNs", thread.ran);
    beginList("cpuOverTime");
    for (size_t i = 0; i < placement.bins.size(); i++) {
      if (i < thread.cpuOverTime.size() && thread.cpuOverTime[i])
        value(uint64_t{*thread.cpuOverTime[i]});
      else
        nullElement();
    }
    endList();
    close();
  }

  void timeline(const Placement& placement) {
    open("timeline");
    field("binSeconds", placement.binSeconds);
    list("memory", placement.bins, [&](const TimeBin& bin) {
      if (!bin.memory) {
        nullElement();
        return;
      }
      open();
      for (const auto& [id, kinds] : *bin.memory) field(std::to_string(id).c_str(), bytesOf(kinds));
      close();
    });
    close();
  }

  const Topology& topology_;
};

}  // namespace

std::string topologyJson(const Topology& topology) {
  return WhereWriter(topology).machine();
}

std::string placementJson(const Topology& topology, const Placement& placement) {
  return WhereWriter(topology).summary(placement);
}

std::string whereJson(const Topology& topology, const Placement& placement,
                      const std::vector<std::string>& command) {
  return WhereWriter(topology).where(placement, command);
}

}  // namespace cacheline::machine
