// The sentence on threads and their memory, and the numactl line.
#include "machine/conclusion.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <map>

#include "machine/where_json.h"
#include "machine_tree.h"

namespace cacheline::machine::test {
namespace {

constexpr uint64_t kSecond = 1'000'000'000, kMiB = uint64_t{1} << 20;

/// Four cores a node: CPUs 0-3 and, with two nodes, 8-11 are node 0's; 4-7 and 12-15 node 1's.
Topology machineOf(uint32_t nodes) {
  static std::map<uint32_t, Topology> made;  // hundreds of files each
  if (!made.contains(nodes)) {
    MachineTree tree;
    tree.makeMachine(nodes, 4);
    made[nodes] = readTopology(tree.roots().sysfs);
  }
  return made[nodes];
}

Placement placementOf(const std::vector<uint64_t>& mebibytes, const std::vector<CpuTimes>& threads) {
  Placement placement;
  placement.seconds = 3;
  placement.processes.push_back({40, "server", {}, {}, {}, false, 0});
  placement.memory.emplace();
  for (uint32_t node = 0; node < mebibytes.size(); node++)
    (*placement.memory)[node] = {0, mebibytes[node] * kMiB, 0, 0};
  pid_t tid = 3;
  for (const CpuTimes& ran : threads) placement.threads.push_back({tid++, 40, "worker", ran, {}});
  return placement;
}

TEST(Conclusion, ThreadsFarFromTheirMemory) {
  Placement placement =
      placementOf({920, 80}, {{{4, 2 * kSecond}}, {{0, 2 * kSecond}}, {{13, kSecond}, {5, kSecond}}});
  const Conclusion found = concludeFrom(machineOf(2), placement, {"./server", "--queue", "it's long"});
  EXPECT_EQ(found.text, "Threads 3 and 5 run on node 1, 92% of their memory is on node 0.");
  EXPECT_EQ(found.command, "numactl --cpunodebind=0 --membind=0 ./server --queue 'it'\\''s long'");
  EXPECT_EQ(concludeFrom(machineOf(2), placement, {}).command, "numactl --cpunodebind=0 --membind=0 PROGRAM");
}

TEST(Conclusion, OneThreadAndThoseThatWander) {
  EXPECT_EQ(concludeFrom(machineOf(2), placementOf({10, 990}, {{{0, kSecond}}, {{4, kSecond}}}), {}).text,
            "Thread 3 runs on node 0, 99% of its memory is on node 1.");
  const Placement wandering =
      placementOf({1000, 0}, {{{0, kSecond}, {4, kSecond}}, {{1, kSecond}}, {{0, kSecond / 1000}}});
  EXPECT_EQ(concludeFrom(machineOf(2), wandering, {}).text,
            "Thread 3 runs on several nodes, 100% of its memory is on node 0.");
}

TEST(Conclusion, ManyThreadsAreCounted) {
  std::vector<CpuTimes> threads(4, CpuTimes{{5, kSecond / 4}});
  EXPECT_EQ(concludeFrom(machineOf(2), placementOf({999, 1}, threads), {}).text,
            "Threads 3, 4, 5 and 6 run on node 1, 99% of their memory is on node 0.");
  threads.resize(12, CpuTimes{{5, kSecond / 4}});
  EXPECT_EQ(concludeFrom(machineOf(2), placementOf({999, 1}, threads), {}).text,
            "All 12 threads run on node 1, 99% of their memory is on node 0.");
  threads.push_back({{0, kSecond}});
  EXPECT_EQ(concludeFrom(machineOf(2), placementOf({999, 1}, threads), {}).text,
            "Threads 3, 4, 5, 6, 7, 8 and 6 more run on node 1, 99% of their memory is on node 0.");
}

TEST(Conclusion, NothingToGain) {
  const Conclusion found =
      concludeFrom(machineOf(2), placementOf({20, 980}, {{{4, kSecond}}, {{6, kSecond}}}), {});
  EXPECT_EQ(found.text,
            "The threads run on node 1, where 98% of their memory is: binding them gains nothing.");
  EXPECT_EQ(found.command, "");
}

TEST(Conclusion, WhatDoesNotFitOneNodeIsInterleaved) {
  // Ten CPUs are busy, and a node has eight.
  const std::vector<CpuTimes> busy(10, CpuTimes{{4, 3 * kSecond}});
  const Conclusion cpus = concludeFrom(machineOf(2), placementOf({1000, 0}, busy), {"a"});
  EXPECT_EQ(
      cpus.text,
      "All 10 threads run on node 1, 100% of their memory is on node 0. Node 0 alone is not enough: the "
      "threads keep 10.0 CPUs busy, and the node has 8. The command spreads the memory evenly.");
  EXPECT_EQ(cpus.command, "numactl --interleave=all a");
  // 15 of 16 GiB.
  const Conclusion memory = concludeFrom(machineOf(2), placementOf({15 * 1024, 0}, {{{4, kSecond}}}), {"a"});
  EXPECT_NE(memory.text.find("the memory does not fit"), std::string::npos) << memory.text;
  EXPECT_EQ(memory.command, "numactl --interleave=all a");
}

TEST(Conclusion, SpreadMemoryIsBroughtToTheThreads) {
  const Conclusion found =
      concludeFrom(machineOf(4), placementOf({400, 350, 0, 250}, {{{4, kSecond}}, {{5, kSecond}}}), {"a"});
  EXPECT_EQ(found.text,
            "The memory is spread, 40% on node 0, 35% on node 1 and 25% on node 3, and the threads run 100% "
            "on node 1.");
  EXPECT_EQ(found.command, "numactl --cpunodebind=1 --membind=1 a");
}

TEST(Conclusion, OneNodeSaysSo) {
  EXPECT_EQ(concludeFrom(machineOf(1), placementOf({10}, {{{0, kSecond}}}), {"a"}).text,
            "This machine has one NUMA node: all memory is equally near to all CPUs.");
  Topology without = machineOf(1);
  without.numa = false;
  EXPECT_EQ(concludeFrom(without, placementOf({10}, {}), {"a"}).text,
            "This kernel knows no NUMA nodes: it treats all memory as equally near to all CPUs.");
  EXPECT_EQ(concludeFrom(without, placementOf({10}, {}), {"a"}).command, "");
}

TEST(Conclusion, WhatIsNotKnownIsSaid) {
  Placement placement = placementOf({10, 0}, {{{4, kSecond}}});
  placement.memory.reset();
  placement.memoryReason = "/proc/40/numa_maps is not readable for this user: look as root";
  EXPECT_EQ(
      concludeFrom(machineOf(2), placement, {"a"}).text,
      "It is unknown where the memory is: /proc/40/numa_maps is not readable for this user: look as root. "
      "The threads ran 100% on node 1.");
  EXPECT_EQ(concludeFrom(machineOf(2), placementOf({10, 0}, {{}}), {"a"}).text,
            "No thread ran during the observation, so it is unknown where they run. Of the memory, 100% on "
            "node 0.");
}

TEST(Conclusion, WhatMayNotRunThereIsNotBoundThere) {
  Placement placement = placementOf({1000, 0}, {{{4, kSecond}}});
  placement.processes[0].allowedCpus = {4, 5, 6, 7};
  placement.processes[0].allowedNodes = {0, 1};
  const Conclusion cpus = concludeFrom(machineOf(2), placement, {"a"});
  EXPECT_EQ(cpus.text,
            "Thread 3 runs on node 1, 100% of its memory is on node 0. Process 40 may not use node 0's CPUs "
            "(CPUs 4-7, memory of nodes 0-1): it was bound elsewhere.");
  EXPECT_EQ(cpus.command, "");
  Topology far = machineOf(2);
  far.nodes[0].cpus.clear();
  EXPECT_NE(
      concludeFrom(far, placementOf({1000, 0}, {{{4, kSecond}}}), {"a"}).text.find("Node 0 has no CPUs"),
      std::string::npos);
}

TEST(ShellLine, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(shellLine({"a", "b c", "", "$x", "--n=1,2", "it's"}), "a 'b c' '' '$x' --n=1,2 'it'\\''s'");
}

TEST(WhereJson, HoldsTheValues) {
  const Topology topology = machineOf(2);
  Placement placement = placementOf({920, 80}, {{{4, 2 * kSecond}}});
  placement.threads[0].name = "\xff\"x";
  placement.threads[0].cpuOverTime = {std::nullopt, 4};
  placement.bins.resize(2);
  placement.bins[1].memory = placement.memory;
  rapidjson::Document json;
  json.Parse(whereJson(topology, placement, {"./server"}).c_str());
  ASSERT_FALSE(json.HasParseError());
  EXPECT_STREQ(json["schema"].GetString(), "cacheline-where/1");
  EXPECT_EQ(json["nodes"][0]["bytes"].GetUint64(), 920 * kMiB);
  EXPECT_EQ(json["nodes"][0]["kinds"]["heap"].GetUint64(), 920 * kMiB);
  EXPECT_EQ(json["nodes"][1]["cpus"].Size(), 8u);
  EXPECT_EQ(json["threads"][0]["runNs"]["1"].GetUint64(), 2 * kSecond);
  EXPECT_EQ(json["threads"][0]["cpuRunNs"]["4"].GetUint64(), 2 * kSecond);
  EXPECT_STREQ(json["threads"][0]["name"].GetString(), "\xef\xbf\xbd\"x");
  EXPECT_TRUE(json["threads"][0]["cpuOverTime"][0].IsNull());
  EXPECT_EQ(json["threads"][0]["cpuOverTime"][1].GetUint(), 4u);
  EXPECT_TRUE(json["timeline"]["memory"][0].IsNull());
  EXPECT_EQ(json["timeline"]["memory"][1]["0"].GetUint64(), 920 * kMiB);
  EXPECT_EQ(json["machine"]["packages"].Size(), 2u);
  EXPECT_EQ(json["machine"]["cores"].Size(), 8u);
  EXPECT_TRUE(json["remoteShare"].IsNull());
  EXPECT_TRUE(json["warnings"].Empty());
  EXPECT_STREQ(json["command"].GetString(), "numactl --cpunodebind=0 --membind=0 ./server");
  placement.memory.reset();
  json.Parse(whereJson(topology, placement, {}).c_str());
  EXPECT_TRUE(json["nodes"][0]["bytes"].IsNull());
  EXPECT_TRUE(json["command"].IsNull());
  json.Parse(placementJson(topology, placement).c_str());
  EXPECT_EQ(json["threads"][0]["cpuRunNs"]["4"].GetUint64(), 2 * kSecond);
}

}  // namespace
}  // namespace cacheline::machine::test
