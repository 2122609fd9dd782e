// What topology and placement together say, in a sentence, and the command that would bring threads and
// memory together.
#pragma once

#include <string>
#include <vector>

#include "machine/placement.h"
#include "machine/topology.h"

namespace cacheline::machine {

struct Conclusion {
  std::string text;     ///< sentences for a person; names in it are ids only
  std::string command;  ///< a numactl(8) line for a shell, with an untrusted command line in it; empty: none
};

/// `command`: the program and its arguments, for the line; empty: not known, and PROGRAM stands for it.
///
/// A thread is at home on the node where it had at least 3/5 of its time; threads with less than 1/100 of all
/// run time are left out. Where at least 4/5 of the memory is on one node, and threads are at home on another
/// one, these are far from their memory. The line binds CPUs and memory to the node with most memory, where
/// the threads do not use more CPUs at a time than it has and the memory fits into it; else it interleaves
/// the memory over all nodes. There is none where nothing is to be gained or too little is known.
Conclusion concludeFrom(const Topology& topology, const Placement& placement,
                        const std::vector<std::string>& command);

/// The words as a POSIX shell takes them.
std::string shellLine(const std::vector<std::string>& words);

}  // namespace cacheline::machine
