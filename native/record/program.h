// Which file a command runs, whether it can be run, and what is worth saying about it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "record/child_process.h"
#include "symbols/inspect.h"

namespace cacheline::record {

struct Program {
  std::string name;  ///< as the person gave it
  std::string path;  ///< for execve(2): as given where it has a slash, else found in PATH
  std::string file;  ///< the same file seen from our own working directory
  symbols::BinaryInfo info;
};

/// Looks `name` up as execvpe(3) does, with the PATH of `environment`; names with a slash are relative to
/// `workingDirectory` (empty: ours). Throws Error(usage): missing, a directory, not executable.
Program findProgram(const std::string& name, const std::string& workingDirectory,
                    const std::vector<std::string>& environment);

/// The sentence for a program that could not be started. Kind usage.
Error startError(const Program& program, const StartFailure& failure, const std::string& workingDirectory);

/// Static, stripped, no debug information, a script, another architecture than `machine` (uname).
std::vector<std::string> programWarnings(const Program& program, const std::string& machine);

}  // namespace cacheline::record
