// What watchpoints are asked to watch, and how much of the program's time they may take.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "symbols/linked_files.h"

namespace cacheline::record {

/// What the watchpoints of a recording saw.
struct WatchCounts {
  uint64_t hits = 0, words = 0;  ///< words: different ones that were watched
  double watchedMs = 0;          ///< at least one word was
};

/// A word that one debug register can watch.
struct WatchWord {
  pid_t pid = 0;
  uint64_t address = 0;  ///< a multiple of `length`
  uint32_t length = 8;   ///< bytes: 1, 2, 4 or 8
  std::string name;      ///< for a person: "counters.b"
};

struct WatchOptions {
  /// Of the program's wall time, 0 to 1, that watching may cost.
  double budget = 0.10;
  /// Before a program is started, with the binaries that it will have mapped, and before running processes
  /// are recorded: throw Error(usage) for an expression that names nothing there. May be empty.
  std::function<void(const symbols::LinkedFiles&)> checkProgram;
  std::function<void(const std::vector<pid_t>&)> checkProcesses;
  /// Called on the recorder's thread while the program runs, about once a second: the words to watch from now
  /// on, the most suspect first; an empty list: none yet.
  std::function<std::vector<WatchWord>(const std::string& recordingFolder, const std::vector<pid_t>& pids)>
      words;
  /// Cheap, asked all the time: whether `words` is to be called at once. May be empty.
  std::function<bool()> asksForWords;
  /// Why `words` had nothing to watch so far: one clause; may be empty.
  std::function<std::string()> whyNothing;
  /// Asked once, when the program has had some time: what was asked for and not found so far, a sentence
  /// each. May be empty.
  std::function<std::vector<std::string>()> missing;
  /// Asked at the end of a recording in which something was watched, a sentence each: what was asked for and
  /// not found, or found elsewhere than in the program itself.
  std::function<std::vector<std::string>()> remarks;
  /// Of `--watch`: the recording ends with an error where nothing was ever watched.
  bool required = false;
};

}  // namespace cacheline::record
