// `cacheline where` and the placement in recordings: real processes on a machine that a made-up /sys says has
// two NUMA nodes, one for each of this machine's first two CPUs.
#include "record/where.h"

#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "machine/conclusion.h"
#include "record/machine.h"
#include "support.h"

namespace cacheline::record::test {
namespace {

constexpr uint64_t kMs = 1'000'000;

/// A /sys with the nodes 0 and 1: CPU 0, and all others. Its memory is real: on node 0.
std::string twoNodes(const TemporaryFolder& folder) {
  const std::string sysfs = folder.file("sys"), cpus = sysfs + "/devices/system/cpu",
                    nodes = sysfs + "/devices/system/node";
  const size_t last = onlineCpus().size() - 1;
  std::filesystem::create_directories(nodes + "/node0");
  std::filesystem::create_directories(nodes + "/node1");
  std::filesystem::create_directories(cpus);
  writeFile(cpus + "/online", "0-" + std::to_string(last) + "\n");
  writeFile(nodes + "/node0/cpulist", "0\n");
  writeFile(nodes + "/node1/cpulist", "1-" + std::to_string(last) + "\n");
  for (const char* node : {"0", "1"})
    writeFile(
        nodes + "/node" + node + "/meminfo",
        std::string("Node ") + node + " MemTotal: 16777216 kB\nNode " + node + " MemFree: 4194304 kB\n");
  return sysfs;
}

WhereResult whereNow(const WhereOptions& options) {
  const std::atomic<bool> stop{false};
  return where(options, stop);
}

bool canUse(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_ISSET(cpu, &set);
}

TEST(Where, AProgramOnTheOtherNodeIsFarFromItsMemory) {
  if (!canUse(1)) GTEST_SKIP() << "this process may not use CPU 1";
  const TemporaryFolder folder;
  const machine::Topology real = machine::readTopology("/sys");
  if (real.nodes.size() != 1) GTEST_SKIP() << "memory may lie on any of this machine's nodes";
  const std::string program = compile(folder, "spin", kSpin);
  WhereOptions options;
  options.command = {"taskset", "-c", "1", program, "2", "0.3"};
  options.roots.sysfs = twoNodes(folder);
  const WhereResult result = whereNow(options);
  ASSERT_TRUE(result.ending);
  EXPECT_EQ(result.ending->exitStatus, 0);
  ASSERT_TRUE(result.placement.memory) << result.placement.memoryReason;
  size_t busy = 0;
  for (const machine::ThreadPlace& thread : result.placement.threads) {
    if (machine::sumOf(thread.ran) < 200 * kMs) continue;
    busy++;
    EXPECT_EQ(thread.name, "spin");
    EXPECT_GT(machine::timesByNode(thread.ran, result.topology).at(1), 200 * kMs);
  }
  EXPECT_EQ(busy, 2u);
  // Its affinity leaves it no CPU of node 0: no line would bind it there.
  const machine::Conclusion found = machine::concludeFrom(result.topology, result.placement, options.command);
  EXPECT_NE(found.text.find("run on node 1, 100% of their memory is on node 0. Process "), std::string::npos)
      << found.text;
  EXPECT_NE(found.text.find("may not use node 0's CPUs (CPUs 1, memory of nodes "), std::string::npos)
      << found.text;
  EXPECT_EQ(found.command, "");
}

TEST(Where, StopEndsTheProgramAndKeepsWhatWasSeen) {
  const TemporaryFolder folder;
  WhereOptions options;
  options.command = {"sleep", "100"};
  std::atomic<bool> stop{false};
  const auto began = std::chrono::steady_clock::now();
  const WhereResult result = where(options, stop, [&](double seconds) {
    if (seconds > 0.3) stop = true;
  });
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  EXPECT_TRUE(result.interrupted);
  ASSERT_TRUE(result.ending);
  EXPECT_EQ(result.ending->signal, SIGTERM);
  ASSERT_TRUE(result.placement.memory);
  ASSERT_FALSE(result.placement.threads.empty());
  EXPECT_EQ(result.placement.threads[0].name, "sleep");
}

std::string refusal(const WhereOptions& options) {
  try {
    whereNow(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.nextStep(), "");
    return error.what();
  }
  return "nothing";
}

TEST(Where, RefusesWhatIsNoProcess) {
  WhereOptions options;
  options.pid = 4194303;
  EXPECT_EQ(refusal(options), "there is no process 4194303");
  std::atomic<bool> stop{false};
  std::atomic<pid_t> id{0};
  std::thread other([&] {
    id = ::gettid();
    while (!stop) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  while (id == 0) std::this_thread::yield();
  options.pid = id;
  EXPECT_EQ(refusal(options), std::to_string(id) + " is a thread of process " + std::to_string(::getpid()));
  stop = true;
  other.join();
  options.pid = ::getpid();
  options.seconds = 0;
  EXPECT_NE(refusal(options).find("is not a time to look for"), std::string::npos);
  if (::access("/proc/2/stat", R_OK) == 0 && readFile("/proc/2/comm") == "kthreadd\n") {
    options.pid = 2;
    options.seconds = 1;
    EXPECT_NE(refusal(options).find("is one of the kernel's own"), std::string::npos);
  }
}

TEST(Where, ARecordingOnSeveralNodesKeepsThePlacement) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "spin", kSpin);
  Kernel kernel = Kernel::real();
  kernel.sysfs = twoNodes(folder);
  const RecordOptions options = optionsFor(folder, {program, "2", "1"});
  const std::atomic<bool> stop{false};
  record(options, stop, {}, kernel);
  rapidjson::Document meta;
  meta.Parse(readFile(options.outputDirectory + "/meta.json").c_str());
  ASSERT_FALSE(meta.HasParseError());
  EXPECT_EQ(meta["topology"]["nodes"].Size(), 2u);
  ASSERT_TRUE(meta["placement"].IsObject());
  EXPECT_GE(meta["placement"]["looks"].GetUint(), 2u);
  EXPECT_LE(meta["placement"]["looks"].GetUint(), 10u);
  EXPECT_GT(meta["placement"]["nodes"][0]["bytes"].GetUint64(), 100'000u);
  uint64_t ran = 0;
  for (const auto& thread : meta["placement"]["threads"].GetArray())
    for (const auto& entry : thread["cpuRunNs"].GetObject()) ran += entry.value.GetUint64();
  EXPECT_GT(ran, 300 * kMs);
  EXPECT_LT(ran, 2'200 * kMs);
}

TEST(Where, ARecordingOnOneNodeKeepsTheMachineAlone) {
  if (machine::readTopology("/sys").nodes.size() != 1) GTEST_SKIP() << "this machine has several nodes";
  const TemporaryFolder folder;
  const RecordOptions options = optionsFor(folder, {"true"});
  recordNow(options);
  rapidjson::Document meta;
  meta.Parse(readFile(options.outputDirectory + "/meta.json").c_str());
  EXPECT_EQ(meta["topology"]["nodes"].Size(), 1u);
  EXPECT_TRUE(meta["placement"].IsNull());
}

}  // namespace
}  // namespace cacheline::record::test
