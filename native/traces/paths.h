// From the accesses to single objects to the paths that many of them share: which functions touched the
// object on which CPUs, in which order. Pure: no files, no binaries.
//
// What DProf (Pesterev, Zeldovich, Morris: "Locating Cache Performance Bottlenecks Using Data Profiling",
// EuroSys 2010, 5.4) calls path traces.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cacheline::traces {

enum class StepKind : uint8_t { read, write, readWrite, unknown };
const char* stepKindName(StepKind kind);  ///< "read", "write", "read-write", "unknown"

/// A member as paths speak of it: those of an object in the order of their offsets.
struct TracedMember {
  uint64_t offset = 0;  ///< bytes from the object's start
  std::string name;
  auto operator<=>(const TracedMember&) const = default;
};

struct ObjectAccess {
  std::string function;
  StepKind kind = StepKind::unknown;
  std::vector<TracedMember> members;
  uint32_t word = 0;  ///< index of the watched word
  uint32_t cpu = 0;
  uint64_t ns = 0;  ///< since the allocation; of a variable, since the window began
};

/// One object while it was followed.
struct TracedLife {
  bool variable = false;  ///< it was neither allocated nor freed
  std::string allocatedIn;
  uint32_t cpu = 0;  ///< that allocated it
  struct Free {
    std::string function;
    uint32_t cpu = 0;
    uint64_t ns = 0;
  };
  std::optional<Free> freed;
  bool truncated = false;              ///< followed no longer, though it lived on
  std::vector<uint32_t> words;         ///< that were watched, ascending
  std::vector<ObjectAccess> accesses;  ///< by time
};

/// Consecutive accesses of one kind by one function on one CPU.
struct PathStep {
  std::string function;
  StepKind kind = StepKind::unknown;
  std::set<TracedMember> members;
  /// Which of the path's CPUs, numbered as the object came to them: 0 is that of the allocation.
  uint32_t place = 0;
  bool cpuChanged = false;    ///< another CPU than that of the step before; of the first: of the allocation
  bool repeated = false;      ///< it came again and again, with no other steps in between than its neighbours
  uint64_t sinceAllocNs = 0;  ///< mean
};

struct Path {
  uint64_t count = 0;                      ///< objects
  std::optional<std::string> allocatedIn;  ///< empty: a variable
  std::optional<PathStep> freed;           ///< without members; empty: not while it was followed
  bool truncated = false;
  std::vector<PathStep> steps;
  uint64_t moreSteps = 0;  ///< that a path of more than kMostSteps has
};

inline constexpr size_t kMostSteps = 64;

/// The most frequent first. Objects share a path where the same functions allocated and freed them, and at
/// each word the same accesses came one after the other. Objects of which other words were watched have one
/// path together where that holds for the words that both have. Steps are in the order in which most objects
/// had them; times are sums of the mean times from step to step.
std::vector<Path> pathsOf(const std::vector<TracedLife>& lives);

}  // namespace cacheline::traces
