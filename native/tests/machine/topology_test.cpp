// The machine's description, from made-up /sys trees of 1, 2 and 4 NUMA nodes and from none.
#include "machine/topology.h"

#include <gtest/gtest.h>

#include "machine_tree.h"

namespace cacheline::machine::test {
namespace {

using Numbers = std::vector<uint32_t>;

TEST(Topology, OfTwoNodes) {
  MachineTree tree;
  tree.makeMachine(2, 4);
  const Topology topology = readTopology(tree.roots().sysfs);
  EXPECT_TRUE(topology.numa);
  ASSERT_EQ(topology.cpus.size(), 16u);
  EXPECT_EQ(topology.cpus[13].id, 13u);
  EXPECT_EQ(topology.cpus[13].package, 1u);
  EXPECT_EQ(topology.cpus[13].core, 1u);
  EXPECT_EQ(topology.nodeOf(13), 1u);
  EXPECT_EQ(topology.nodeOf(16), std::nullopt);
  ASSERT_EQ(topology.nodes.size(), 2u);
  EXPECT_EQ(topology.nodes[1].cpus, (Numbers{4, 5, 6, 7, 12, 13, 14, 15}));
  EXPECT_EQ(topology.nodes[1].memoryBytes, uint64_t{16} << 30);
  EXPECT_EQ(topology.nodes[1].freeBytes, uint64_t{4} << 30);
  EXPECT_EQ(topology.nodes[1].distances, (Numbers{21, 10}));
  EXPECT_EQ(topology.node(2), nullptr);
  // 8 cores with three caches of their own, 2 packages with one.
  ASSERT_EQ(topology.caches.size(), 26u);
  EXPECT_EQ(topology.caches[0].level, 1u);
  EXPECT_EQ(topology.caches[0].type, "Data");
  EXPECT_EQ(topology.caches[0].bytes, 48u * 1024);
  EXPECT_EQ(topology.caches[0].lineBytes, 64u);
  EXPECT_EQ(topology.caches[0].ways, 12u);
  EXPECT_EQ(topology.caches[0].cpus, (Numbers{0, 8}));
  EXPECT_EQ(topology.caches[25].level, 3u);
  EXPECT_EQ(topology.caches[25].bytes, uint64_t{32} << 20);
  EXPECT_EQ(topology.caches[25].ways, std::nullopt);
  EXPECT_EQ(topology.caches[25].cpus, (Numbers{4, 5, 6, 7, 12, 13, 14, 15}));
}

TEST(Topology, OfOneAndOfFourNodes) {
  for (const uint32_t nodes : {1u, 4u}) {
    MachineTree tree;
    tree.makeMachine(nodes, 2);
    const Topology topology = readTopology(tree.roots().sysfs);
    ASSERT_EQ(topology.nodes.size(), nodes);
    EXPECT_EQ(topology.cpus.size(), 4 * nodes);
    for (uint32_t node = 0; node < nodes; node++) {
      EXPECT_EQ(topology.nodes[node].id, node);
      EXPECT_EQ(topology.nodes[node].cpus.size(), 4u);
      EXPECT_EQ(topology.nodes[node].distances.size(), nodes);
    }
  }
}

TEST(Topology, WithoutNumaIsOneNode) {
  MachineTree tree;
  tree.makeMachine(1, 2);
  tree.remove("sys/devices/system/node");
  const Topology topology = readTopology(tree.roots().sysfs);
  EXPECT_FALSE(topology.numa);
  ASSERT_EQ(topology.nodes.size(), 1u);
  EXPECT_EQ(topology.nodes[0].cpus, (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(topology.nodes[0].memoryBytes, std::nullopt);
  EXPECT_EQ(topology.nodeOf(3), 0u);
}

TEST(Topology, LeavesOutOfflineCpusAndNodesOfMemoryAloneHaveNone) {
  MachineTree tree;
  tree.makeMachine(2, 2);
  tree.write("sys/devices/system/cpu/online", "0,2-4\n");
  tree.write("sys/devices/system/node/node2/cpulist", "\n");
  tree.write("sys/devices/system/node/node2/meminfo", "Node 2 MemTotal:  1024 kB\n");
  const Topology topology = readTopology(tree.roots().sysfs);
  ASSERT_EQ(topology.cpus.size(), 4u);
  ASSERT_EQ(topology.nodes.size(), 3u);
  EXPECT_EQ(topology.nodes[0].cpus, (Numbers{0, 4}));
  EXPECT_EQ(topology.nodes[1].cpus, (Numbers{2, 3}));
  EXPECT_TRUE(topology.nodes[2].cpus.empty());
  EXPECT_EQ(topology.nodes[2].memoryBytes, 1024u * 1024);
  EXPECT_EQ(topology.caches.back().cpus, (Numbers{2, 3}));
}

TEST(Topology, WhatIsMissingOrMalformedStaysEmpty) {
  MachineTree tree;
  tree.makeMachine(1, 1);
  const std::string cpu = "sys/devices/system/cpu/cpu0";
  tree.write(cpu + "/topology/physical_package_id", "-1\n");
  tree.remove(cpu + "/topology/die_id");
  tree.write(cpu + "/cache/index3/size", "much\n");
  tree.write(cpu + "/cache/index3/coherency_line_size", "\n");
  tree.write("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 99999999999999999999999 kB\n");
  tree.write("sys/devices/system/node/node0/distance", "10 x\n");
  tree.write("sys/devices/system/node/nodes/cpulist", "7\n");
  const Topology topology = readTopology(tree.roots().sysfs);
  EXPECT_EQ(topology.cpus[0].package, std::nullopt);
  EXPECT_EQ(topology.cpus[0].die, std::nullopt);
  EXPECT_EQ(topology.caches.back().level, 3u);
  EXPECT_EQ(topology.nodes.size(), 1u);
  EXPECT_EQ(topology.nodes[0].memoryBytes, std::nullopt);
  EXPECT_EQ(topology.nodes[0].distances, (Numbers{10}));
  const Topology nothing = readTopology(tree.roots().sysfs + "/none");
  EXPECT_FALSE(nothing.numa);
  EXPECT_TRUE(nothing.cpus.empty());
  EXPECT_EQ(nothing.nodes.size(), 1u);
}

TEST(Topology, OfThisMachineHoldsEachCpuOnce) {
  const Topology topology = readTopology("/sys");
  size_t cpus = 0;
  for (const Node& node : topology.nodes) cpus += node.cpus.size();
  EXPECT_EQ(cpus, topology.cpus.size());
  EXPECT_GT(cpus, 0u);
}

TEST(Topology, ListsAreAsTheKernelWritesThem) {
  EXPECT_EQ(listText({}), "");
  EXPECT_EQ(listText({3}), "3");
  EXPECT_EQ(listText({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

}  // namespace
}  // namespace cacheline::machine::test
