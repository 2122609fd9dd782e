// What is recorded: a command, running processes or threads, or the whole machine.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cacheline::record {

struct Target {
  enum class Kind { command, processes, threads, system };
  Kind kind = Kind::command;
  std::vector<pid_t> ids;      ///< of processes or threads; of a command its own, once it is forked
  std::vector<uint32_t> cpus;  ///< only what happens on these; empty: on all that are online
  bool children = true;        ///< processes and threads that they start later, too
  bool descendants = false;    ///< of processes: those that they started before, too
};

}  // namespace cacheline::record
