// The sampling agent in ordinary programs: samples, names, mappings, threads, processes.
#include <gtest/gtest.h>

#include "agent_run.h"

namespace cacheline::record::test {
namespace {

TEST(Agent, SamplesEveryThreadWithRegistersAndMappings) {
  const TemporaryFolder folder;
  const std::string program = compile(folder, "spin", kSpin);
  AgentRun run;
  run.run(folder, {program, "3", "0.5"});
  EXPECT_EQ(run.status, 0) << run.output;
  const Recorded& recorded = *run.recorded;
  EXPECT_GE(recorded.samples, 100u);
  EXPECT_EQ(recorded.withRegisters, recorded.samples);
  EXPECT_EQ(recorded.kernelSamples, 0u);
  EXPECT_EQ(recorded.outOfOrder, 0u);
  EXPECT_EQ(recorded.sampledTids.size(), 3u);
  EXPECT_EQ(recorded.pids.size(), 1u);
  EXPECT_EQ(recorded.lost, 0u);
  EXPECT_TRUE(recorded.mappedFiles.contains(program));
  EXPECT_TRUE(recorded.mappedFiles.contains("//anon"));
  EXPECT_EQ(recorded.execs, std::vector<std::string>{"spin"});
  EXPECT_TRUE(run.warnings.empty()) << run.warnings[0];
}

}  // namespace
}  // namespace cacheline::record::test
