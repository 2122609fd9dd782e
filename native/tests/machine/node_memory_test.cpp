// numa_maps and what stands in for it.
#include "machine/node_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "machine_tree.h"

namespace cacheline::machine::test {
namespace {

constexpr uint64_t kPage = 4096;

TEST(NodeMemory, SortsLinesAsNumastatDoes) {
  const NodeMemory memory = parseNumaMaps(
      "55d0 default file=/usr/bin/heap\\040stack\\040huge mapped=3 N0=2 N1=1 kernelpagesize_kB=4\n"
      "55d1 default heap anon=5 dirty=5 N1=5 kernelpagesize_kB=4\n"
      "7f00 bind:0 file=/anon_hugepage\\040(deleted) huge anon=2 dirty=2 N0=2 kernelpagesize_kB=2048\n"
      "7ffd prefer:1 stack anon=3 dirty=3 active=2 N0=1 N3=2 kernelpagesize_kB=4\n"
      "7fff default\n",
      kPage);
  ASSERT_EQ(memory.size(), 3u);
  using Kinds = std::array<uint64_t, kMemoryKinds>;
  EXPECT_EQ(memory.at(0), (Kinds{2 * 2048 * 1024, 0, kPage, 2 * kPage}));
  EXPECT_EQ(memory.at(1), (Kinds{0, 5 * kPage, 0, kPage}));
  EXPECT_EQ(memory.at(3), (Kinds{0, 0, 2 * kPage, 0}));
  EXPECT_EQ(bytesOf(memory), 2 * 2048 * 1024 + 11 * kPage);
}

TEST(NodeMemory, OldKernelsDoNotSayThePageSize) {
  EXPECT_EQ(bytesOf(parseNumaMaps("1000 default anon=2 dirty=2 N0=2", 65536)), 2u * 65536);
}

TEST(NodeMemory, LeavesOutWhatIsMalformed) {
  EXPECT_TRUE(parseNumaMaps("", kPage).empty());
  EXPECT_TRUE(parseNumaMaps("\n\n N=1 N1 N1= Nx=3 N-1=2 N1=-2 N99999999999=1\n", kPage).empty());
  EXPECT_EQ(bytesOf(parseNumaMaps("1 default N0=1 N1=18446744073709551615 kernelpagesize_kB=0\n", kPage)),
            kPage);
}

TEST(NodeMemory, OfThisProcessFindsWhatItTouched) {
  constexpr size_t kBytes = size_t{32} << 20;
  const Topology topology = readTopology("/sys");
  const MemoryLook before = memoryOf(::getpid(), {}, topology);
  ASSERT_TRUE(before.memory) << before.reason;
  void* const block = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  std::memset(block, 1, kBytes);
  const MemoryLook after = memoryOf(::getpid(), {}, topology);
  ::munmap(block, kBytes);
  ASSERT_TRUE(after.memory) << after.reason;
  EXPECT_NEAR(static_cast<double>(bytesOf(*after.memory) - bytesOf(*before.memory)), kBytes, kBytes / 16);
}

TEST(NodeMemory, OnOneNodeTheResidentSetStandsIn) {
  MachineTree tree;
  tree.makeMachine(1, 1);
  tree.setProcess(7, {{7}}, "");
  tree.remove("proc/7/numa_maps");
  tree.write("proc/7/statm", "1000 250 30 1 0 20 0\n");
  const MemoryLook look = memoryOf(7, tree.roots(), readTopology(tree.roots().sysfs));
  ASSERT_TRUE(look.memory);
  EXPECT_EQ(bytesOf(*look.memory), 250 * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_NE(look.reason.find("CONFIG_NUMA"), std::string::npos) << look.reason;
}

TEST(NodeMemory, OfAnotherUserIsNotKnownAndSaysWhatHelps) {
  if (::geteuid() == 0 && ::seteuid(65534) != 0) GTEST_SKIP() << "cannot become another user";
  MachineTree tree;
  tree.makeMachine(2, 1);
  tree.setProcess(7, {{7}}, "1000 default N0=1\n");
  const std::string file = tree.roots().procfs + "/7/numa_maps";
  ASSERT_EQ(::chmod(file.c_str(), 0), 0);
  const MemoryLook look = memoryOf(7, tree.roots(), readTopology(tree.roots().sysfs));
  if (::getuid() == 0) {
    EXPECT_EQ(::seteuid(0), 0);
  }
  EXPECT_FALSE(look.memory);
  EXPECT_NE(look.reason.find("not readable for this user: look as the process's user, or as root"),
            std::string::npos)
      << look.reason;
}

}  // namespace
}  // namespace cacheline::machine::test
