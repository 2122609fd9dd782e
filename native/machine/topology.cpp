// Reading of /sys/devices/system/{cpu,node}.
#include "machine/topology.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/kernel_files.h"

namespace cacheline::machine {
namespace {

/// A number that is not negative; the kernel writes -1 for what it does not know.
std::optional<uint32_t> numberIn(const std::string& path) {
  const std::optional<int64_t> number = readNumber(path);
  if (!number || *number < 0 || *number > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

/// The numbers N of the names "prefixN" in a folder, ascending.
std::vector<uint32_t> numbered(const std::string& folder, std::string_view prefix) {
  std::vector<uint32_t> numbers;
  for (const std::string& name : listDirectory(folder))
    if (name.starts_with(prefix))
      if (const auto number = parseNumber<uint32_t>(std::string_view(name).substr(prefix.size())))
        numbers.push_back(*number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// "48K" or "2M" (show_size of drivers/base/cacheinfo.c) in bytes.
std::optional<uint64_t> sizeIn(const std::string& path) {
  std::string text = readText(path).value_or("");
  uint64_t unit = 1;
  if (text.ends_with('K')) unit = 1024;
  if (text.ends_with('M')) unit = 1024 * 1024;
  if (unit > 1) text.pop_back();
  const auto number = parseNumber<uint32_t>(text);
  return number ? std::optional<uint64_t>(*number * unit) : std::nullopt;
}

/// Of a line "Node 0 MemTotal:  1024 kB", in bytes.
std::optional<uint64_t> kilobytesOf(const std::string& memory, const std::string& key) {
  const std::string field = fieldOf(memory, key);
  std::string_view value = field;
  const auto number = parseNumber<uint64_t>(takeUntil(value, ' '));
  return number && *number <= UINT64_MAX / 1024 ? std::optional<uint64_t>(*number * 1024) : std::nullopt;
}

std::vector<uint32_t> ascending(std::vector<uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::vector<uint32_t> onlineOf(std::vector<uint32_t> cpus, const std::vector<uint32_t>& online) {
  std::erase_if(cpus, [&](uint32_t cpu) { return !std::binary_search(online.begin(), online.end(), cpu); });
  return ascending(std::move(cpus));
}

Node readNode(const std::string& folder, uint32_t id, const std::vector<uint32_t>& online) {
  Node node;
  node.id = id;
  node.cpus = onlineOf(parseCpuList(readText(folder + "/cpulist").value_or("")), online);
  const std::string memory = readText(folder + "/meminfo").value_or(""), key = "Node " + std::to_string(id);
  node.memoryBytes = kilobytesOf(memory, key + " MemTotal");
  node.freeBytes = kilobytesOf(memory, key + " MemFree");
  const std::string distances = readText(folder + "/distance").value_or("");
  for (std::string_view rest = trim(distances); !rest.empty();)
    if (const auto distance = parseNumber<uint32_t>(takeUntil(rest, ' ')))
      node.distances.push_back(*distance);
  return node;
}

using CacheKey = std::tuple<uint32_t, std::string, std::vector<uint32_t>>;  // level, type, CPUs

void readCaches(const std::string& folder, uint32_t cpu, const std::vector<uint32_t>& online,
                std::map<CacheKey, Cache>& caches) {
  for (const uint32_t index : numbered(folder, "index")) {
    const std::string path = folder + "/index" + std::to_string(index);
    Cache cache;
    cache.level = numberIn(path + "/level").value_or(0);
    cache.type = readText(path + "/type").value_or("");
    if (cache.level == 0) continue;
    cache.bytes = sizeIn(path + "/size");
    cache.lineBytes = numberIn(path + "/coherency_line_size");
    // The kernel writes 0 for what it does not know.
    if (const auto ways = numberIn(path + "/ways_of_associativity"); ways && *ways > 0) cache.ways = ways;
    cache.cpus = onlineOf(parseCpuList(readText(path + "/shared_cpu_list").value_or("")), online);
    if (cache.cpus.empty()) cache.cpus = {cpu};
    caches.emplace(CacheKey(cache.level, cache.type, cache.cpus), cache);
  }
}

}  // namespace

std::optional<uint32_t> Topology::nodeOf(uint32_t cpu) const {
  const auto found = std::lower_bound(cpus.begin(), cpus.end(), cpu,
                                      [](const Cpu& one, uint32_t id) { return one.id < id; });
  return found != cpus.end() && found->id == cpu ? found->node : std::nullopt;
}

const Node* Topology::node(uint32_t id) const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [id](const Node& one) { return one.id == id; });
  return found != nodes.end() ? &*found : nullptr;
}

Topology readTopology(const std::string& sysfs) {
  const std::string cpuFolder = sysfs + "/devices/system/cpu", nodeFolder = sysfs + "/devices/system/node";
  Topology topology;
  const std::vector<uint32_t> present = numbered(cpuFolder, "cpu");
  const std::optional<std::string> list = readText(cpuFolder + "/online");
  const std::vector<uint32_t> online = list ? ascending(parseCpuList(*list)) : present;
  std::map<CacheKey, Cache> caches;
  for (const uint32_t id : online) {
    const std::string folder = cpuFolder + "/cpu" + std::to_string(id);
    topology.cpus.push_back({id,
                             numberIn(folder + "/topology/physical_package_id"),
                             numberIn(folder + "/topology/die_id"),
                             numberIn(folder + "/topology/core_id"),
                             {}});
    readCaches(folder + "/cache", id, online, caches);
  }
  for (auto& [key, cache] : caches) topology.caches.push_back(std::move(cache));
  for (const uint32_t id : numbered(nodeFolder, "node"))
    topology.nodes.push_back(readNode(nodeFolder + "/node" + std::to_string(id), id, online));
  if (topology.nodes.empty()) {
    topology.numa = false;
    topology.nodes.push_back({0, online, {}, {}, {}});
  }
  for (Cpu& cpu : topology.cpus)
    for (const Node& node : topology.nodes)
      if (std::binary_search(node.cpus.begin(), node.cpus.end(), cpu.id)) cpu.node = node.id;
  return topology;
}

std::string listText(const std::vector<uint32_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size();) {
    size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) last++;
    if (!text.empty()) text += ',';
    text += std::to_string(numbers[i]);
    if (last > i) text += "-" + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace cacheline::machine
