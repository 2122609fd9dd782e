// Where a recording's records come from: perf events, or the agent in the program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "perfdata/event.h"

namespace cacheline::record {

/// Whether a recording says when threads were put on CPUs and taken off them (PERF_RECORD_SWITCH).
struct SwitchRecords {
  bool recorded = false;
  std::string reason;  ///< one clause: why not; empty where they are recorded
};

class Source {
 public:
  virtual ~Source() = default;
  /// For the file's header.
  virtual std::vector<perfdata::Event> events() const = 0;
  /// File descriptors that become readable when there is much to drain.
  virtual std::vector<int> wakeups() const = 0;
  using Append = std::function<void(std::span<const uint8_t> records)>;
  /// Hands over what has been recorded since the last call, as whole perf records; each call is one round of
  /// the file's time ordering. False where there was nothing.
  virtual bool drain(const Append& append) = 0;
  /// The program's environment with what the source needs in it.
  virtual std::vector<std::string> environment(std::vector<std::string> environment) const {
    return environment;
  }
  virtual void enable() = 0;
  virtual void disable() = 0;
  virtual SwitchRecords switches() const { return {false, "this collector sees no context switches"}; }
  /// Records that found no room so far, whether or not a record told of them; empty where nobody counts.
  virtual std::optional<uint64_t> lost() const { return std::nullopt; }
  /// Sentences for a person: what could not be had, what was lost. Complete after disable() and the last
  /// drain().
  virtual std::vector<std::string> warnings() const = 0;
  /// The end of "N records were lost, because ...".
  virtual std::string whyLost() const { return "the buffers were full: ask for a lower rate"; }
};

}  // namespace cacheline::record
