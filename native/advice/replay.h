// The recorded accesses as they would be under another layout: each at the address that it would have there,
// put before the same judge as the recording itself.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/line_verdict.h"
#include "analysis/report.h"
#include "calibration/calibration.h"

namespace cacheline::advice {

/// Where an address of a line would be: a space of addresses, and the address there. Spaces below the number
/// of the report's lines are those lines' own.
struct Moved {
  uint32_t space = 0;
  uint64_t address = 0;
};
/// `line`: index of a line of the report. An address that stays where it is has the space of its line. Empty:
/// what is there is left out.
using Move = std::function<std::optional<Moved>(uint32_t line, uint64_t address)>;

/// A line of the new layout.
struct ReplayedLine {
  Moved start;
  analysis::LineAccesses accesses;
  analysis::LineVerdict verdict;
  /// By use: the line of the report that it was on, and its number there.
  std::vector<std::pair<uint32_t, uint32_t>> uses;
  std::vector<uint32_t> threads;  ///< by visitor, as analysis::LineHistory
};

struct WaitingKey {
  uint32_t phase = 0;   ///< of Report::phases
  uint32_t thread = 0;  ///< as analysis::LineHistory has it
  calibration::AccessClass access = calibration::AccessClass::load;
  uint32_t line = 0;      ///< of Replayed::lines
  uint64_t function = 0;  ///< as analysis::WordStatistics::function
  auto operator<=>(const WaitingKey&) const = default;
};
/// Contended samples.
using WaitingByThread = std::map<WaitingKey, double>;

struct Replayed {
  std::vector<ReplayedLine> lines;
  double waiting = 0;  ///< contended samples
  double truly = 0;    ///< of them, for what the access itself shares, as far as causes are known
  WaitingByThread byThread;
};

class Replay {
 public:
  /// The report is kept; its lines have a history.
  explicit Replay(const analysis::Report& report) : report_(report) {}
  /// `lines`: indices, of all lines from which something moves. `lineSize`: bytes. `causes`: with what is
  /// waited for, which takes ten times as long.
  Replayed operator()(std::span<const uint32_t> lines, const Move& move, uint32_t lineSize,
                      bool causes = false) const;

 private:
  const analysis::Report& report_;
};

}  // namespace cacheline::advice
