// Writing of the made-up trees.
#include "machine_tree.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>

namespace cacheline::machine::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kTickNs = 10'000'000;

/// A line of /proc/PID/stat, with 52 fields.
std::string statLine(int id, const std::string& name, uint64_t ranNs, uint64_t startTicks, uint32_t cpu) {
  std::string line = std::to_string(id) + " (" + name + ") R 1 1 1 0 -1 4194304 0 0 0 0 " +
                     std::to_string(ranNs / kTickNs) + " 0 0 0 20 0 1 0 " + std::to_string(startTicks);
  for (int field = 23; field <= 38; field++) line += " 0";
  return line + " " + std::to_string(cpu) + " 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
}

}  // namespace

MachineTree::MachineTree() {
  std::string pattern = fs::temp_directory_path() / "cacheline-machine-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
}

MachineTree::~MachineTree() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void MachineTree::write(const std::string& path, const std::string& text) {
  const fs::path file = fs::path(path_) / path;
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

void MachineTree::remove(const std::string& path) {
  fs::remove_all(fs::path(path_) / path);
}

void MachineTree::makeMachine(uint32_t nodes, uint32_t coresPerNode) {
  const uint32_t cores = nodes * coresPerNode;
  const std::string cpuFolder = "sys/devices/system/cpu/", nodeFolder = "sys/devices/system/node/";
  write(cpuFolder + "online", "0-" + std::to_string(2 * cores - 1) + "\n");
  for (uint32_t cpu = 0; cpu < 2 * cores; cpu++) {
    const uint32_t core = cpu % cores, node = core / coresPerNode;
    const std::string folder = cpuFolder + "cpu" + std::to_string(cpu);
    write(folder + "/topology/physical_package_id", std::to_string(node) + "\n");
    write(folder + "/topology/die_id", "0\n");
    write(folder + "/topology/core_id", std::to_string(core % coresPerNode) + "\n");
    const std::string pair = std::to_string(core) + "," + std::to_string(core + cores) + "\n";
    const uint32_t first = node * coresPerNode, last = first + coresPerNode - 1;
    const std::string package = std::to_string(first) + "-" + std::to_string(last) + "," +
                                std::to_string(first + cores) + "-" + std::to_string(last + cores) + "\n";
    const auto cache = [&](int index, const char* level, const char* type, const char* size,
                           const std::string& shared) {
      const std::string path = folder + "/cache/index" + std::to_string(index) + "/";
      write(path + "level", level);
      write(path + "type", type);
      write(path + "size", size);
      write(path + "coherency_line_size", "64\n");
      write(path + "ways_of_associativity", index == 3 ? "0\n" : "12\n");
      write(path + "shared_cpu_list", shared);
    };
    cache(0, "1\n", "Data\n", "48K\n", pair);
    cache(1, "1\n", "Instruction\n", "32K\n", pair);
    cache(2, "2\n", "Unified\n", "2048K\n", pair);
    cache(3, "3\n", "Unified\n", "32768K\n", package);
    write(nodeFolder + "node" + std::to_string(node) + "/cpulist", package);
  }
  for (uint32_t node = 0; node < nodes; node++) {
    const std::string folder = nodeFolder + "node" + std::to_string(node),
                      key = "Node " + std::to_string(node);
    write(folder + "/meminfo",
          key + " MemTotal:       16777216 kB\n" + key + " MemFree:         4194304 kB\n");
    std::string distances;
    for (uint32_t other = 0; other < nodes; other++) distances += other == node ? "10 " : "21 ";
    distances.back() = '\n';
    write(folder + "/distance", distances);
  }
}

void MachineTree::setProcess(int pid, const std::vector<Thread>& threads, const std::string& numaMaps,
                             uint64_t endedNs) {
  const std::string folder = "proc/" + std::to_string(pid);
  remove(folder + "/task");
  uint64_t total = endedNs;
  for (const Thread& thread : threads) {
    const std::string path = folder + "/task/" + std::to_string(thread.tid);
    write(path + "/stat", statLine(thread.tid, thread.name, thread.ranNs, 500, thread.cpu));
    write(path + "/schedstat", std::to_string(thread.ranNs) + " 0 1\n");
    total += thread.ranNs;
  }
  write(folder + "/stat", statLine(pid, "server", total, 500, 0));
  write(folder + "/status", "Name:\tserver\nTgid:\t" + std::to_string(pid) +
                                "\nCpus_allowed_list:\t0-1023\nMems_allowed_list:\t0-3\n");
  write(folder + "/cmdline", std::string("./server\0--threads\0two words\0", 29));
  write(folder + "/numa_maps", numaMaps);
}

}  // namespace cacheline::machine::test
