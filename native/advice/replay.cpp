// Samples of some lines, sorted into the lines of another layout.
#include "advice/replay.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/line_history.h"
#include "analysis/phases.h"
#include "analysis/verdict.h"

namespace cacheline::advice {

namespace {

using analysis::LineHistory;

/// One line of the new layout while its samples are gathered.
class Gathered {
 public:
  Gathered(const analysis::Report& report, const Moved& start, uint32_t lineSize)
      : report_(report), lineSize_(lineSize) {
    result_.start = start;
  }

  struct Sample {
    uint64_t time = 0;
    uint32_t line = 0, sample = 0;  ///< of the report; index among the line's samples
    uint32_t offset = 0;            ///< of the access, in the new line
    auto operator<=>(const Sample&) const = default;
  };
  std::vector<Sample> samples;

  /// After the last sample.
  ReplayedLine judged(const Move& move, bool causes) {
    std::sort(samples.begin(), samples.end());
    for (const Sample& each : samples) add(each);
    const bool whole = addKnown(move);
    for (size_t actor = 0; actor < runs_.size(); ++actor)
      result_.accesses.actors[actor].runs = runs_[actor].runs();
    // On which part of a line somebody writes is not known where it is taken apart.
    const bool answered = waits_ && whole && (report_.hitmKnown || report_.peerKnown);
    result_.verdict =
        answered
            ? analysis::judgeAnswered(result_.accesses, causes)
            : analysis::judgeLine(result_.accesses,
                                  {.where = report_.whereabouts.get(), .threads = result_.threads}, causes);
    return std::move(result_);
  }

 private:
  void add(const Sample& each) {
    const LineHistory& history = *report_.lines[each.line].history;
    const analysis::PlaceSample& sample = history.accesses.samples[each.sample];
    const analysis::WordStatistics& use = history.accesses.uses[sample.use];
    const uint32_t actor = actorOf(history.actors[history.accesses.visitors[sample.visitor].actor]);
    analysis::PlaceSample made = sample;
    made.use = useOf(each, sample.use);
    made.visitor = visitorOf(actor, history.threads[sample.visitor]);
    result_.accesses.samples.push_back(made);
    const analysis::ByteMask mask =
        analysis::bytesFrom(each.offset, use.width, std::min(lineSize_, analysis::kMaxLineSize));
    analysis::LineActor& by = result_.accesses.actors[actor];
    if (use.reads) by.read |= mask;
    if (use.writes) by.written |= mask;
    if (last_ == actor)
      runs_[actor].extend(sample.time);
    else
      runs_[actor].begin(sample.time);
    last_ = actor;
    waits_ |= sample.waits;
  }

  /// What code is known to do beside its samples, where it would do it on this line. Whether nothing of the
  /// lines that the samples come from is elsewhere.
  bool addKnown(const Move& move) {
    std::set<uint32_t> lines;
    for (const Sample& each : samples) lines.insert(each.line);
    bool whole = true;
    for (const uint32_t line : lines) {
      const LineHistory& history = *report_.lines[line].history;
      const auto here = [&](uint32_t offset) -> std::optional<uint32_t> {
        const std::optional<Moved> to = move(line, report_.lines[line].address + offset);
        if (!to || to->space != result_.start.space || to->address < result_.start.address ||
            to->address - result_.start.address >= lineSize_)
          return std::nullopt;
        return static_cast<uint32_t>(to->address - result_.start.address);
      };
      for (const analysis::KnownUse& use : history.accesses.known) {
        const std::optional<uint32_t> offset = here(use.offset);
        const auto actor = actors_.find(history.actors[use.actor]);
        if (!offset || actor == actors_.end()) continue;
        const uint32_t width = std::min(use.width, lineSize_ - *offset);
        result_.accesses.known.push_back({*offset, width, actor->second, use.reads, use.writes});
      }
      for (const analysis::StepUse& step : history.accesses.steps) {
        const std::optional<uint32_t> offset = here(step.offset);
        const auto use = uses_.find({line, step.use});
        if (offset && use != uses_.end())
          result_.accesses.steps.push_back({use->second, *offset, std::min(step.width, lineSize_ - *offset)});
      }
      whole &= std::ranges::all_of(history.accesses.uses, [&](const analysis::WordStatistics& use) {
        return here(use.offset).has_value();
      });
    }
    return whole;
  }

  uint32_t useOf(const Sample& each, uint32_t use) {
    const auto [known, isNew] =
        uses_.try_emplace({each.line, use}, static_cast<uint32_t>(result_.uses.size()));
    if (!isNew) return known->second;
    analysis::WordStatistics& made =
        result_.accesses.uses.emplace_back(report_.lines[each.line].history->accesses.uses[use]);
    made.offset = each.offset;
    made.width = std::min(made.width, lineSize_ - each.offset);
    result_.uses.emplace_back(each.line, use);
    return known->second;
  }

  uint32_t actorOf(uint32_t number) {
    const auto [known, isNew] = actors_.try_emplace(number, static_cast<uint32_t>(actors_.size()));
    if (isNew) {
      result_.accesses.actors.emplace_back();
      runs_.emplace_back();
    }
    return known->second;
  }

  uint32_t visitorOf(uint32_t actor, uint32_t thread) {
    const auto [known, isNew] =
        visitors_.try_emplace({actor, thread}, static_cast<uint32_t>(result_.threads.size()));
    if (!isNew) return known->second;
    const uint32_t dense = threads_.try_emplace(thread, static_cast<uint32_t>(threads_.size())).first->second;
    result_.accesses.visitors.push_back({actor, dense});
    result_.threads.push_back(thread);
    result_.accesses.actors[actor].thread =
        placed_.insert(actor).second ? dense : analysis::LineActor::kNoThread;
    return known->second;
  }

  const analysis::Report& report_;
  const uint32_t lineSize_;
  ReplayedLine result_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> uses_, visitors_;
  std::map<uint32_t, uint32_t> actors_, threads_;
  std::set<uint32_t> placed_;  ///< actors that were seen on a thread
  std::vector<analysis::RunList> runs_;
  uint32_t last_ = kNobody;
  bool waits_ = false;
  static constexpr uint32_t kNobody = ~uint32_t{0};
};

bool overlap(const analysis::WordStatistics& a, const analysis::WordStatistics& b) {
  return a.offset < b.offset + b.width && b.offset < a.offset + a.width;
}

/// By use. What a function both reads and writes without a lock is updated, by one instruction or by several:
/// the read is served from the store buffer that the write went to.
std::vector<calibration::AccessClass> classesOf(const std::vector<analysis::WordStatistics>& uses) {
  using calibration::AccessClass;
  std::vector<AccessClass> classes;
  for (const analysis::WordStatistics& use : uses) {
    if (use.locked) {
      classes.push_back(use.swaps ? AccessClass::exchange : AccessClass::locked);
      continue;
    }
    bool reads = false, writes = false;
    for (const analysis::WordStatistics& other : uses) {
      if (other.locked || other.function != use.function || !overlap(use, other)) continue;
      reads = reads || other.reads;
      writes = writes || other.writes;
    }
    classes.push_back(reads && writes ? AccessClass::update
                      : writes        ? AccessClass::store
                                      : AccessClass::load);
  }
  return classes;
}

/// The contended samples of the last line.
void addWaiting(const std::vector<uint64_t>& phases, Replayed& sum) {
  const auto number = static_cast<uint32_t>(sum.lines.size() - 1);
  const ReplayedLine& line = sum.lines.back();
  if (!line.verdict.waiting) return;
  const analysis::Waiting& waiting = *line.verdict.waiting;
  sum.waiting += waiting.line.waiting;
  if (waiting.line.known > 0)
    sum.truly += waiting.line.waiting * (1 - waiting.line.falsely / waiting.line.known);
  const std::vector<calibration::AccessClass> classes = classesOf(line.accesses.uses);
  std::vector<double> samples(line.uses.size());
  for (size_t i = 0; i < line.accesses.samples.size(); ++i)
    if (line.verdict.counts(line.accesses, i))
      samples[line.accesses.samples[i].use] += line.accesses.samples[i].weight;
  for (size_t i = 0; i < line.accesses.samples.size(); ++i)
    if (const analysis::PlaceSample& sample = line.accesses.samples[i]; line.verdict.counts(line.accesses, i))
      sum.byThread[{analysis::phaseAt(phases, sample.time), line.threads[sample.visitor], classes[sample.use],
                    number, line.accesses.uses[sample.use].function}] +=
          sample.weight * waiting.contended[sample.use] / samples[sample.use];
}

}  // namespace

Replayed Replay::operator()(std::span<const uint32_t> lines, const Move& move, uint32_t lineSize,
                            bool causes) const {
  std::map<std::pair<uint32_t, uint64_t>, Gathered> gathered;
  for (const uint32_t line : lines) {
    const analysis::LineAccesses& accesses = report_.lines[line].history->accesses;
    std::vector<std::optional<Moved>> moved;
    for (const analysis::WordStatistics& use : accesses.uses)
      moved.push_back(move(line, report_.lines[line].address + use.offset));
    for (uint32_t i = 0; i < accesses.samples.size(); ++i) {
      const std::optional<Moved>& to = moved[accesses.samples[i].use];
      if (!to) continue;
      const uint64_t start = to->address & ~uint64_t{lineSize - 1};
      gathered.try_emplace({to->space, start}, report_, Moved{to->space, start}, lineSize)
          .first->second.samples.push_back(
              {accesses.samples[i].time, line, i, static_cast<uint32_t>(to->address - start)});
    }
  }
  Replayed result;
  for (auto& [key, line] : gathered) {
    result.lines.push_back(line.judged(move, causes));
    addWaiting(report_.phases, result);
  }
  return result;
}

}  // namespace cacheline::advice
