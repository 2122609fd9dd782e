// Samples of some lines, sorted into the lines of another layout.
#include "advice/replay.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/line_history.h"
#include "analysis/verdict.h"

namespace cacheline::advice {

namespace {

using analysis::LineHistory;

bool spansOverlap(std::span<const analysis::Run> a, std::span<const analysis::Run> b) {
  return !a.empty() && !b.empty() && a.front().start <= b.back().end && b.front().start <= a.back().end;
}

/// One line of the new layout while its samples are gathered.
class Gathered {
 public:
  Gathered(const Moved& start, uint32_t lineSize) : lineSize_(lineSize) { result_.start = start; }

  struct Sample {
    uint64_t time = 0;
    uint32_t line = 0, sample = 0;  ///< of the report; index among the line's samples
    uint32_t offset = 0;            ///< of the access, in the new line
    auto operator<=>(const Sample&) const = default;
  };
  std::vector<Sample> samples;

  uint32_t useOf(uint32_t line, uint32_t use, const analysis::WordStatistics& from, uint32_t offset) {
    const auto [known, isNew] = uses_.try_emplace({line, use}, static_cast<uint32_t>(result_.uses.size()));
    if (!isNew) return known->second;
    analysis::WordStatistics& made = result_.accesses.uses.emplace_back(from);
    made.offset = offset;
    made.width = std::min(from.width, lineSize_ - offset);
    result_.uses.emplace_back(line, use);
    return known->second;
  }
  std::optional<uint32_t> knownUse(uint32_t line, uint32_t use) const {
    const auto known = uses_.find({line, use});
    return known == uses_.end() ? std::nullopt : std::optional(known->second);
  }
  uint32_t actorOf(uint32_t number) {
    const auto [known, isNew] = actors_.try_emplace(number, static_cast<uint32_t>(actors_.size()));
    if (isNew) {
      result_.accesses.actors.emplace_back();
      runs_.emplace_back();
    }
    return known->second;
  }
  std::optional<uint32_t> knownActor(uint32_t number) const {
    const auto known = actors_.find(number);
    return known == actors_.end() ? std::nullopt : std::optional(known->second);
  }
  uint32_t visitorOf(uint32_t actor, uint32_t thread) {
    const auto [known, isNew] =
        visitors_.try_emplace({actor, thread}, static_cast<uint32_t>(result_.threads.size()));
    if (!isNew) return known->second;
    const uint32_t dense = threads_.try_emplace(thread, static_cast<uint32_t>(threads_.size())).first->second;
    result_.accesses.visitors.push_back({actor, dense});
    result_.threads.push_back(thread);
    uint32_t& only = result_.accesses.actors[actor].thread;
    const bool first = placed_.try_emplace(actor, true).second;
    only = first ? dense : analysis::LineActor::kNoThread;
    return known->second;
  }
  void addRun(uint32_t actor, uint64_t time) {
    if (last_ == actor)
      runs_[actor].extend(time);
    else
      runs_[actor].begin(time);
    last_ = actor;
  }
  analysis::LineAccesses& accesses() { return result_.accesses; }
  ReplayedLine take() {
    for (size_t actor = 0; actor < runs_.size(); ++actor)
      result_.accesses.actors[actor].runs = runs_[actor].runs();
    return std::move(result_);
  }

 private:
  uint32_t lineSize_;
  ReplayedLine result_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> uses_, visitors_;
  std::map<uint32_t, uint32_t> actors_, threads_;
  std::map<uint32_t, bool> placed_;
  std::vector<analysis::RunList> runs_;
  uint32_t last_ = ~uint32_t{0};
};

calibration::AccessClass classOf(const analysis::WordStatistics& use) {
  if (use.locked) return use.swaps ? calibration::AccessClass::exchange : calibration::AccessClass::locked;
  // What reads and writes without a lock waits in its load.
  return use.writes && !use.reads ? calibration::AccessClass::store : calibration::AccessClass::load;
}

}  // namespace

Replayed Replay::operator()(std::span<const uint32_t> lines, const Move& move, uint32_t lineSize) const {
  std::map<std::pair<uint32_t, uint64_t>, Gathered> gathered;
  const auto lineAt = [&](const Moved& moved) -> Gathered& {
    const uint64_t start = moved.address & ~uint64_t{lineSize - 1};
    return gathered.try_emplace({moved.space, start}, Moved{moved.space, start}, lineSize).first->second;
  };
  for (const uint32_t line : lines) {
    const analysis::Line& from = report_.lines[line];
    const analysis::LineAccesses& accesses = from.history->accesses;
    std::vector<Moved> moved;
    for (const analysis::WordStatistics& use : accesses.uses)
      moved.push_back(move(line, from.address + use.offset));
    for (uint32_t i = 0; i < accesses.samples.size(); ++i) {
      const analysis::PlaceSample& sample = accesses.samples[i];
      const Moved& to = moved[sample.use];
      lineAt(to).samples.push_back(
          {sample.time, line, i, static_cast<uint32_t>(to.address & (lineSize - 1))});
    }
  }

  Replayed result;
  for (auto& [key, line] : gathered) {
    std::sort(line.samples.begin(), line.samples.end());
    bool waits = false;
    for (const Gathered::Sample& each : line.samples) {
      const LineHistory& history = *report_.lines[each.line].history;
      const analysis::PlaceSample& sample = history.accesses.samples[each.sample];
      const analysis::WordStatistics& use = history.accesses.uses[sample.use];
      const analysis::Visitor& visitor = history.accesses.visitors[sample.visitor];
      const uint32_t actor = line.actorOf(history.actors[visitor.actor]);
      analysis::LineAccesses& accesses = line.accesses();
      const uint32_t number = line.useOf(each.line, sample.use, use, each.offset);
      const analysis::ByteMask mask =
          analysis::bytesFrom(each.offset, use.width, std::min(lineSize, analysis::kMaxLineSize));
      analysis::LineActor& by = accesses.actors[actor];
      if (use.reads) by.read |= mask;
      if (use.writes) by.written |= mask;
      by.swaps |= use.swaps;
      line.addRun(actor, sample.time);
      analysis::PlaceSample& made = accesses.samples.emplace_back(sample);
      made.use = number;
      made.visitor = line.visitorOf(actor, history.threads[sample.visitor]);
      waits |= sample.waits;
    }
    // What code is known to do beside its samples, where it would do it on this line.
    std::vector<uint32_t> sources;
    for (const Gathered::Sample& each : line.samples) sources.push_back(each.line);
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    bool whole = true;  // nothing of those lines is elsewhere
    for (const uint32_t source : sources) {
      const analysis::Line& from = report_.lines[source];
      const LineHistory& history = *from.history;
      const auto here = [&](uint32_t offset) -> std::optional<uint32_t> {
        const Moved to = move(source, from.address + offset);
        if (to.space != key.first || (to.address & ~uint64_t{lineSize - 1}) != key.second)
          return std::nullopt;
        return static_cast<uint32_t>(to.address & (lineSize - 1));
      };
      for (const analysis::KnownUse& use : history.accesses.known) {
        const std::optional<uint32_t> offset = here(use.offset);
        const std::optional<uint32_t> actor = line.knownActor(history.actors[use.actor]);
        if (!offset || !actor) continue;
        analysis::KnownUse& made = line.accesses().known.emplace_back(use);
        made.offset = *offset;
        made.width = std::min(use.width, lineSize - *offset);
        made.actor = *actor;
      }
      for (const analysis::StepUse& step : history.accesses.steps) {
        const std::optional<uint32_t> offset = here(step.offset);
        const std::optional<uint32_t> use = line.knownUse(source, step.use);
        if (offset && use)
          line.accesses().steps.push_back({*use, *offset, std::min(step.width, lineSize - *offset)});
      }
      whole &= std::ranges::all_of(history.accesses.uses, [&](const analysis::WordStatistics& use) {
        return here(use.offset).has_value();
      });
    }
    ReplayedLine& replayed = result.lines.emplace_back(line.take());
    // A load that hit a modified line has a writer, though none was sampled: on which part of a line is not
    // known where it is taken apart.
    const bool answers = waits && whole && (report_.hitmKnown || report_.peerKnown);
    analysis::JudgeBy by;
    by.written = answers;
    replayed.verdict = analysis::judgeLine(replayed.accesses, by, true);
    if (answers && replayed.verdict.verdict == analysis::Verdict::privateLine) {
      by.competing = spansOverlap;
      replayed.verdict = analysis::judgeLine(replayed.accesses, by, true);
    }
    if (!replayed.verdict.waiting) continue;
    const analysis::Waiting& waiting = *replayed.verdict.waiting;
    result.waiting += waiting.line.waiting;
    result.falsely += waiting.line.falsely;
    std::vector<double> samples(replayed.uses.size());
    const auto counts = [&](const analysis::PlaceSample& sample) {
      return sample.waits &&
             replayed.verdict.judgement.competes[replayed.accesses.visitors[sample.visitor].actor];
    };
    for (const analysis::PlaceSample& sample : replayed.accesses.samples)
      if (counts(sample)) samples[sample.use] += sample.weight;
    for (const analysis::PlaceSample& sample : replayed.accesses.samples) {
      if (!counts(sample)) continue;
      const analysis::WordStatistics& use = replayed.accesses.uses[sample.use];
      const calibration::AccessClass of = classOf(use);
      result.byThread[{replayed.threads[sample.visitor], of}] +=
          sample.weight * waiting.contended[sample.use] / samples[sample.use];
    }
  }
  return result;
}

}  // namespace cacheline::advice
