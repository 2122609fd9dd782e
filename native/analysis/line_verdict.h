// The verdict on one line: who competes for it, and what they wait for.
#pragma once

#include <optional>
#include <vector>

#include "analysis/turns.h"
#include "analysis/verdict.h"
#include "analysis/waiting.h"

namespace cacheline::analysis {

/// All accesses to a line that are known.
struct LineAccesses {
  std::vector<LineActor> actors;
  std::vector<Visitor> visitors;  ///< actors are indices of `actors`
  std::vector<WordStatistics> uses;
  std::vector<PlaceSample> samples;  ///< in time order
  std::vector<KnownUse> known;       ///< several times the same, maybe
  std::vector<StepUse> steps;        ///< likewise
};

/// Those that would compete for a line took turns on one core.
struct LineTurns {
  bool written = false;  ///< by one of them
  bool oneCore = false;  ///< they were on several CPUs of it
};

struct LineVerdict {
  Verdict verdict = Verdict::privateLine;
  Judgement judgement;
  std::optional<Waiting> waiting;    ///< where the line is contended
  std::optional<LineTurns> turns;    ///< where it is private for that reason
  std::vector<Meanwhile> meanwhile;  ///< by sample, see competitorsOf(); empty: it is not known
  /// Whether a sample is one of the contended ones.
  bool counts(const LineAccesses& line, size_t sample) const {
    const PlaceSample& each = line.samples[sample];
    return each.waits && judgement.competes[line.visitors[each.visitor].actor] && !waitedForNobody(sample);
  }
  /// That is known of a sample.
  bool waitedForNobody(size_t sample) const {
    return !meanwhile.empty() && meanwhile[sample] != Meanwhile::elsewhere;
  }
};

/// - private: no two actors compete; read-shared: some do and none of them writes;
/// - otherwise by what each access waits for (see waiting.h, which explains `chance`).
LineVerdict judgeLine(const LineAccesses& line, const JudgeBy& by = {}, bool chance = true);

/// The same of a line with loads that hit another core's modified line, or that another core answered: it has
/// a writer even where no store was sampled, and where no two actors were seen to alternate, those whose time
/// spans overlap compete.
LineVerdict judgeAnswered(const LineAccesses& line, bool chance = true, bool pairs = false);

}  // namespace cacheline::analysis
