// What a trace is asked to follow, and what finding it needs of others.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "symbols/linked_files.h"

namespace cacheline::record {

/// Bytes of an object that one debug register can watch.
struct TraceWord {
  uint64_t offset = 0;  ///< from the object's start
  uint32_t length = 8;  ///< bytes: 1, 2, 4 or 8
};

/// The type as the program's binaries have it.
struct TraceSubject {
  std::string type, member;  ///< member: empty where the whole object is traced
  uint64_t size = 0;         ///< bytes
  std::vector<TraceWord> words;
};

/// An object in memory.
struct TraceObject {
  pid_t pid = 0;
  uint64_t address = 0;
  std::string name;  ///< of a variable; empty: a heap block
};

struct TraceOptions {
  std::string agent;          ///< path of libcacheline_heap.so
  double budget = 0.02;       ///< of the program's elapsed time, 0 to 1, that tracing may cost
  uint64_t instances = 1000;  ///< objects that are followed at most
  /// Before the program starts, with the binaries that it will have mapped. Throws Error(usage): there is no
  /// such type or member; Error(unreadable): no debug information tells.
  std::function<TraceSubject(const symbols::LinkedFiles&)> subject;
  /// Where in a block of `size` bytes that a call chain (return addresses, innermost first) allocates in a
  /// process an object of the type begins, in bytes; empty: in none of these. On the tracer's thread.
  std::function<std::optional<uint64_t>(pid_t pid, std::span<const uint64_t> frames, uint64_t size)> place;
  /// The variables of the type with static storage that a process has; on the tracer's thread.
  std::function<std::vector<TraceObject>(pid_t pid)> variables;
};

/// What a trace saw, for a person and for meta.json.
struct TraceCounts {
  uint64_t instances = 0, hits = 0;
};

}  // namespace cacheline::record
