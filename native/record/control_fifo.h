// Commands to a recording from elsewhere, through FIFOs, as `perf record --control fifo:COMMANDS[,ACKS]`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "record/recorder.h"

namespace cacheline::record {

class ControlChannel {
 public:
  enum class Command { enable, disable, stop, ping };
  /// Opens both without waiting for their other ends. Throws Error(usage): no FIFO there.
  explicit ControlChannel(const ControlFifo& fifos);

  int wakeup() const { return commands_.get(); }
  /// The commands that have come since the last call, whole lines only. What is none is left out; a sentence
  /// on it is added to `warnings` once.
  std::vector<Command> read(std::vector<std::string>& warnings);
  /// Answers one command, where acknowledgements are wanted.
  void acknowledge() const;

 private:
  UniqueFd commands_, acknowledgements_;
  std::string line_;
  bool warned_ = false;
};

}  // namespace cacheline::record
