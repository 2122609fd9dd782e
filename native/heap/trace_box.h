// The recorder's side of a trace's letter box (trace_format.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heap/trace_format.h"

namespace cacheline::heap {

/// Who did something to a block, and when.
struct TraceAct {
  uint64_t ns = 0;  ///< CLOCK_MONOTONIC
  uint32_t tid = 0, cpu = 0;
  std::vector<uint64_t> frames;  ///< return addresses, innermost caller first
};

/// A block that a program allocates right now: the thread waits for the answer.
struct AskedBlock {
  uint32_t pid = 0;
  uint64_t address = 0, size = 0;  ///< bytes
  TraceAct allocated;
};

/// What processes write into it is checked as any foreign bytes.
class TraceBox {
 public:
  /// Creates FOLDER/trace.box, which is removed with this object. Asked is about blocks of `least` to `most`
  /// bytes, `least` at least 1. Throws Error(io).
  TraceBox(const std::string& folder, uint64_t least, uint64_t most);
  ~TraceBox();
  TraceBox(const TraceBox&) = delete;
  TraceBox& operator=(const TraceBox&) = delete;

  /// The environment's entry by which the agent finds it.
  std::string entry() const { return "CACHELINE_TRACE=" + path_; }

  trace_state state() const;
  /// False where the state was another one.
  bool change(trace_state from, trace_state to);
  /// Until the state is another one than `from`, or the time is over.
  void wait(trace_state from, std::chrono::nanoseconds most) const;
  /// In the state TRACE_ASKED.
  AskedBlock asked() const;
  /// In the state TRACE_FREED.
  TraceAct freed() const;
  /// Traps so far that came without a reason: hits that nobody was told of.
  uint32_t stray() const;
  /// Program images that started with the agent.
  uint32_t agents() const;

 private:
  std::string path_;
  trace_box* box_ = nullptr;
};

}  // namespace cacheline::heap
