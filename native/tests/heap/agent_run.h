// Runs programs, compiled on the spot, with the agent in them, and reads what it wrote.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "heap/allocations.h"
#include "heap/recording_file.h"

namespace cacheline::heap::test {

/// A folder, removed at the end, with a program and its recording.
class AgentRun {
 public:
  AgentRun();
  ~AgentRun();

  /// Compiles C, or C++ where `cxx`; fails the test where that fails. `name` is without a folder.
  std::string compile(const std::string& source, const std::string& flags = "-O1", bool cxx = false,
                      const std::string& name = "program");
  /// Runs a shell command with the agent in the program that it executes, and reads the recording.
  void run(const std::string& command);
  /// The same without the agent.
  void runAlone(const std::string& command);
  std::string file(const std::string& name) const { return folder_ + "/" + name; }

  RecordingLimits limits{.sampling = 1};
  int status = -1;     ///< 128 + signal where it died of one
  std::string output;  ///< standard output and error
  std::vector<std::vector<uint64_t>>
      lines;  ///< the numbers (0x… or decimal) of each line of the output that has some
  std::unique_ptr<Allocations> heap;
  RecordingCounts counts;

 private:
  void execute(const std::string& command, const std::vector<std::string>& environment);
  std::string folder_;
};

/// For the programs: `now()` in ns of the recording's clock, and `say(...)` that prints numbers, unbuffered.
extern const char* const kProgramHead;
/// The source of a program that has them.
inline std::string program(const std::string& body) {
  return kProgramHead + body;
}

}  // namespace cacheline::heap::test
