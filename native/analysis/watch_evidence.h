// Trapped accesses placed in cache lines: by whom, from which instruction, at which bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/binaries.h"
#include "analysis/data_names.h"
#include "analysis/line_space.h"
#include "analysis/thread_table.h"
#include "analysis/timeline.h"
#include "analysis/trapped_code.h"
#include "analysis/watch_log.h"
#include "analysis/watch_verdict.h"
#include "decode/trapped.h"

namespace cacheline::analysis {

/// The hits of one instruction at one place of a line.
struct WatchedRow {
  uint32_t offset = 0, width = 0;  ///< bytes in the line; width 0: unknown
  uint32_t binary = kNone;         ///< kNone: code that no file backs
  uint64_t elfAddress = 0, codeAddress = 0;
  bool locked = false;
  bool exact = false;  ///< `offset` is the access's own, not its word's
  bool sure = false;   ///< `elfAddress` is that of the access
  /// `sure`, and `offset` is the access's own: it is exact, or the access as wide as its word.
  bool placed = false;
  WatchCounts counts;
};

struct WatchedLine {
  Position position;                 ///< of its first byte
  uint64_t address = 0;              ///< of it, where it was first watched
  uint32_t region = kNone;           ///< see DataNames
  std::vector<ConfirmedWord> words;  ///< by first window
  std::vector<SeenAccess> seen;      ///< by time
  std::vector<WatchedRow> rows;
  std::vector<uint32_t> threads;  ///< dense indices, of ThreadTable
  double watchedMs = 0;           ///< at least one word was
};

class WatchEvidence {
 public:
  /// Places all windows and traps of `log`. References are kept.
  WatchEvidence(const WatchLog& log, const Timeline& timeline, ThreadTable& threads, LineSpaces& lineSpaces,
                Binaries& binaries, DataNames& names, uint32_t lineSize);

  /// By first window.
  const std::vector<WatchedLine>& lines() const { return lines_; }
  /// By the line's first byte; null: nothing of it was watched.
  const WatchedLine* at(const Position& position) const;

 private:
  struct WordKey {
    uint64_t address = 0;
    uint32_t pid = 0;
    bool operator==(const WordKey&) const = default;
    size_t hash() const { return mix(address, pid); }
  };
  struct Open {  ///< the last window of a word
    uint32_t line = 0, word = 0;
    uint64_t start = 0, end = 0;
  };

  void open(const WatchWindow& window);
  uint32_t lineAt(const WatchWindow& window, uint32_t& offset);
  void add(const WatchTrap& trap);
  void count(const WatchTrap& trap, const Open& open, const TrappedCode* code,
             const std::optional<decode::TrappedAccess>& access);

  const WatchLog& log_;
  const Timeline& timeline_;
  AddressSpaces spaces_{timeline_};
  TrapDecoder decoder_;
  ThreadTable& threads_;
  LineSpaces& lineSpaces_;
  DataNames& names_;
  const uint32_t lineSize_;
  HashMap<WordKey, Open> open_;
  std::vector<WatchedLine> lines_;
  HashMap<Position, uint32_t> lineIndex_;
  HashMap<uint32_t, uint64_t> lastWindow_;  ///< by line: start of the last one that counts in watchedMs
};

}  // namespace cacheline::analysis
