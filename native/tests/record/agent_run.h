// Runs programs with the sampling agent in them, and reads what it recorded.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "record/agent_source.h"
#include "support.h"

namespace cacheline::record::test {

struct AgentRun {
  uint32_t frequency = agentFrequency();
  /// Called beside the program, about every 5 ms.
  std::function<void()> meanwhile;

  /// Runs a command with its output (both streams) into `output`, and reads folder/out/perf.data.
  void run(const TemporaryFolder& folder, const std::vector<std::string>& command);

  int status = -1;  ///< 128 + signal where it died of one
  std::string output;
  std::vector<std::string> warnings;
  std::unique_ptr<Recorded> recorded;
};

/// The output and the status of a command, without the agent.
struct Alone {
  explicit Alone(const std::vector<std::string>& command);
  int status = -1;
  std::string output;
};

/// For the programs: headers, and `burn(seconds)` of the thread's CPU time.
extern const char* const kAgentProgramHead;

/// The same output and status without the agent and with it, which is left in `run` and `folder`.
void expectSameOf(const TemporaryFolder& folder, AgentRun& run, const std::vector<std::string>& command);
/// Of a C program, behind kAgentProgramHead.
void expectSame(const TemporaryFolder& folder, AgentRun& run, const std::string& source,
                const std::vector<std::string>& arguments = {}, const std::string& flags = "-O1 -g -w");

}  // namespace cacheline::record::test
