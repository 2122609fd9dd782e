// A program that runs one instruction at a time, so that tests see the registers at each of its memory
// accesses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/registers.h"
#include "symbols/module.h"

namespace cacheline::inference::test {

/// An access of the program's own code, as a sample would give it.
struct LiveAccess {
  uint64_t access = 0;  ///< ELF address of the accessing instruction
  uint64_t ip = 0;      ///< ELF address of the instruction after it, where the sample is taken
  Registers registers;  ///< at `ip`
  uint64_t address = 0;
  uint32_t width = 0;
  /// Index in LiveRun::objects of what lies there, kNoObject where nothing does (any more).
  static constexpr size_t kNoObject = ~size_t{0};
  size_t object = kNoObject;
};

/// What the program said with `note(type, pointer, size, count)`: `count` objects of `size` bytes.
struct NotedObject {
  std::string type;  ///< or several that are right, `Base|Derived`
  bool is(const std::string& name) const;
  uint64_t base = 0, size = 0, count = 0;
  bool contains(uint64_t address) const { return address >= base && address - base < size * count; }
};

struct LiveRun {
  uint64_t loadBias = 0;
  std::vector<LiveAccess> accesses;
  std::vector<NotedObject> objects;
  /// What an access touches; null: nothing that was noted.
  const NotedObject* objectOf(const LiveAccess& access) const;
};

/// Runs `binary` from main() to its end, or through `mostSteps` instructions. What it calls in libraries runs
/// at once. Throws std::runtime_error where ptrace is refused.
LiveRun runStepByStep(const std::string& binary, const symbols::Module& module, size_t mostSteps = 200'000);

}  // namespace cacheline::inference::test
