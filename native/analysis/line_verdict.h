// The verdict on one line: who competes for it, and what they wait for.
#pragma once

#include <optional>
#include <vector>

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

struct LineVerdict {
  Verdict verdict = Verdict::privateLine;
  Judgement judgement;
  std::optional<Waiting> waiting;  ///< where the line is contended
};

/// - private: no two actors compete; read-shared: some do and none of them writes;
/// - otherwise by what each access waits for (see waiting.h, which explains `chance`).
LineVerdict judgeLine(const LineAccesses& line, const JudgeBy& by = {}, bool chance = true);

/// The same of a line with loads that hit another core's modified line, or that another core answered: it has
/// a writer even where no store was sampled, and where no two actors were seen to alternate, those whose time
/// spans overlap compete.
LineVerdict judgeAnswered(const LineAccesses& line, bool chance = true, bool pairs = false);

}  // namespace cacheline::analysis
