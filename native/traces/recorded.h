// The objects that a recording followed: trace.jsonl (docs/outputs.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traces/type_finder.h"

namespace cacheline::traces {

/// Who did something to a block, and when.
struct RecordedAct {
  uint64_t ns = 0;  ///< of the recording's clock
  uint32_t tid = 0, cpu = 0;
  std::vector<uint64_t> frames;  ///< return addresses, innermost caller first
};

struct RecordedObject {
  uint32_t pid = 0;
  uint64_t address = 0;
  std::string variable;  ///< empty: it was allocated
  std::optional<RecordedAct> allocated, freed;
  uint64_t start = 0, end = 0;  ///< ns
  std::vector<uint32_t> words;  ///< indices into RecordedTrace::words, ascending
  std::string cut;              ///< why it was followed no longer, though it lived on; or empty
};

struct RecordedTrace {
  std::string type, member;
  uint64_t size = 0;  ///< bytes
  std::vector<TypeWord> words;
  std::vector<RecordedObject> objects;  ///< by start
  /// At the recording's end; empty: it was killed before.
  std::optional<uint64_t> elapsedNs, costNs;
  std::vector<std::string> warnings;  ///< sentences on what cannot be read
};

/// Throws Error(unreadable) where the first line does not say what was traced. What else cannot be read is
/// left out, with a warning.
RecordedTrace parseTrace(std::string_view text);
/// FOLDER/trace.jsonl. Throws Error(unreadable) also where there is none.
RecordedTrace readTrace(const std::string& folder);

}  // namespace cacheline::traces
