// From what waits for what to what helps: each way is tried by a replay of the recorded accesses.
#include <rapidjson/document.h>

#include <algorithm>
#include <map>
#include <set>

#include "advice/advice.h"
#include "advice/gain.h"
#include "advice/latent.h"
#include "advice/locks.h"
#include "advice/moves.h"
#include "advice/objects.h"
#include "advice/relations.h"
#include "advice/replay.h"
#include "analysis/caches.h"
#include "analysis/findings.h"
#include "analysis/line_history.h"
#include "analysis/own_place.h"
#include "analysis/verdict.h"
#include "base/error.h"
#include "calibration/calibration_json.h"

namespace cacheline::advice {

namespace {

using analysis::Report;

/// Of a subject's waiting: what ends less of it is no remedy.
constexpr double kWorthIt = 0.1;
/// A remedy that ends nearly as much as the best one is better where it is smaller.
constexpr double kNearlyAsMuch = 0.05;
/// Bytes: where the machine's meta.json does not tell its first-level data cache.
constexpr uint64_t kFirstLevelCache = 32 * 1024;
/// Bytes of cpu.CacheLinePad of golang.org/x/sys on x86-64.
constexpr uint64_t kGoPad = 64;
/// Of the elapsed time: what can gain less is not worth a change.
constexpr double kLeastSpeedup = 1.05;

/// Of the machine that recorded; empty: it had none, or a damaged one, of which a warning then says so.
std::optional<calibration::Calibration> calibrationOf(const Report& report,
                                                      std::vector<std::string>& warnings) {
  rapidjson::Document meta;
  if (meta.Parse(report.metaJson.data(), report.metaJson.size()).HasParseError() || !meta.IsObject())
    return std::nullopt;
  const auto found = meta.FindMember("calibration");
  if (found == meta.MemberEnd() || !found->value.IsObject()) return std::nullopt;
  try {
    return calibration::parse(found->value);
  } catch (const Error& error) {
    warnings.push_back("What contention costs on that machine is not known (meta.json of the recording: " +
                       std::string(error.what()) + ").");
    return std::nullopt;
  }
}

class Advisor {
 public:
  explicit Advisor(const Report& report)
      : list_{.warnings = report.warnings},
        report_(report),
        subjects_(report),
        moves_(report, subjects_),
        replay_(report),
        locked_(locksOf(report)),
        calibration_(calibrationOf(report, list_.warnings)) {}

  AdviceList run() {
    const std::vector<Waits> waits = waitsOf(report_, subjects_);
    for (const analysis::Finding& finding : analysis::findingsOf(report_, subjects_))
      if (finding.advice == list_.advice.size()) list_.advice.push_back(adviceOn(finding, waits));
    // What is contended as it lies is told of once: by its advice.
    std::set<std::string> told;
    for (const Advice& advice : list_.advice) told.insert(advice.type);
    for (uint32_t subject = 0; subject < waits.size(); ++subject)
      if (!told.contains(of(subject).type))
        if (auto latent = latentOf(report_, subjects_, subject, replay_))
          list_.latent.push_back(std::move(*latent));
    return std::move(list_);
  }

 private:
  /// A way with what the replay says of it.
  struct Candidate {
    Way way = Way::none;
    Change change;
    uint64_t size = 0;  ///< bytes of an object, after
    Replayed after;
    double left = 1;   ///< of the waiting before
    double truly = 0;  ///< of the same, what is true sharing after
  };

  const analysis::Subject& of(uint32_t subject) const { return subjects_.list()[subject]; }
  uint32_t lineSize() const { return report_.lineSize; }

  Advice adviceOn(const analysis::Finding& finding, const std::vector<Waits>& waits) {
    const uint32_t number = finding.subject;
    const analysis::Subject& subject = of(number);
    const Waits& here = waits[number];
    Advice advice;
    advice.type = finding.type;
    advice.object = finding.object;
    advice.described = subject.described;
    advice.definition = finding.definition;
    advice.allocation = finding.allocation;
    advice.language = languageOf(subject, here);
    advice.abi = isPublic(subject);
    advice.contended = finding.contended;
    advice.programShare = finding.programShare;
    advice.verdict = finding.verdict;
    advice.sure = finding.falseShare && finding.falseShare->isSure();
    advice.falseShare = finding.falseShare;
    for (const analysis::FindingMember& member : finding.members)
      if (!member.name.empty() &&
          static_cast<double>(member.contended) >= kWorthIt / 2 * static_cast<double>(finding.contended))
        advice.members.push_back(member.name);

    const Replayed before = replay_(here.lines, stays(), lineSize());
    const MemberGroups groups =
        subject.described == nullptr ? MemberGroups{} : groupMembers(report_, subjects_, number, replay_);
    std::vector<Candidate> candidates = candidatesFor(number, waits, groups);
    for (Candidate& candidate : candidates) {
      if (before.waiting <= 0) continue;
      candidate.left = (candidate.after.waiting + stepCost(here.lines, candidate)) / before.waiting;
      candidate.truly = candidate.after.truly / before.waiting;
    }
    const Candidate* chosen = analysis::cannotTell(finding) ? nullptr : bestOf(candidates, here);
    advice.twoSides = here.betweenSides >= kWorthIt * here.all && here.betweenSides > 0;
    advice.locks = locksIn(report_, subjects_, locked_, number, here.lines);
    advice.why = whyOf(finding, here, isAllLocked(report_, subjects_, locked_, number, here.lines), chosen);
    advice.basis = basisOf(report_, calibration());
    if (chosen != nullptr) {
      Gain gain = gainOf(report_, calibration(), before, chosen->after);
      // Where too little is shown to wait, what only may be waiting is no promise, either.
      if (gain.mostShown < kLeastSpeedup) {
        gain.most = gain.mostShown;
        if (gain.speedup) gain.speedup->high = gain.mostShown;
      }
      advice.basis = basisOf(report_, calibration(), gain);
      advice.mostSpeedup = gain.most;
      advice.speedup = gain.speedup;
      // A victim's thread may gain though the program takes as long.
      advice.threadsOnly = here.victims > 0 && !report_.threads.empty() && gain.most < kLeastSpeedup &&
                           gain.mostOfThread >= kLeastSpeedup;
    }
    const double falsely = here.all - here.truly;
    if (here.inside >= kWorthIt * here.all && 2 * here.inside >= falsely) advice.placements = luckOf(number);
    advice.confidence = confidenceOf(here, chosen != nullptr);
    advice.readerLinesBefore = advice.readerLinesAfter = linesOf(subject.size);
    if (chosen != nullptr && chosen->way == Way::stride && subject.described == nullptr)
      advice.elementsInRow = elementsInRow(report_, subjects_, number);
    if (chosen != nullptr)
      addRemedy(subject, here, *chosen, advice);
    else if (advice.why == Why::trueSharing && 2 * here.atSums > here.all)
      addCopies(here, advice);
    return advice;
  }

  /// Where members of an object share a line, if that is luck: with other placements they do not.
  std::vector<LatentPlacement> luckOf(uint32_t subject) const {
    auto latent = latentOf(report_, subjects_, subject, replay_);
    if (!latent) return {};
    std::erase_if(latent->placements, [&](const auto& each) { return each.lineSize != lineSize(); });
    return std::move(latent->placements);
  }

  const calibration::Calibration* calibration() const { return calibration_ ? &*calibration_ : nullptr; }

  /// Null: none ends enough of the waiting.
  static const Candidate* bestOf(const std::vector<Candidate>& candidates, const Waits& waits) {
    const auto best =
        std::min_element(candidates.begin(), candidates.end(),
                         [](const Candidate& a, const Candidate& b) { return a.left < b.left; });
    // Victims gain though they have few of the samples.
    const double worth = waits.victims > 0 ? std::min(kWorthIt, waits.victims / waits.all / 2) : kWorthIt;
    if (best == candidates.end() || best->left > 1 - worth) return nullptr;
    const Candidate* smallest = &*best;
    for (const Candidate& candidate : candidates)
      if (candidate.left <= best->left + kNearlyAsMuch && candidate.size < smallest->size)
        smallest = &candidate;
    return smallest;
  }

  /// What the way does, and what it costs.
  void addRemedy(const analysis::Subject& subject, const Waits& waits, const Candidate& chosen,
                 Advice& advice) const {
    advice.way = chosen.way;
    advice.change = chosen.change;
    advice.contendedLeft = std::clamp(chosen.left, 0.0, 1.0);
    advice.trulyLeft = std::min(advice.contendedLeft, chosen.truly);
    if (const auto cycles = excessCycles(report_, waits.lines))
      advice.excessCycles = *cycles * (1 - advice.contendedLeft);
    advice.bytesPerInstance = advice.language == symbols::Language::go
                                  ? padsOfGo(chosen) * kGoPad
                                  : chosen.size - std::min(chosen.size, subject.size);
    advice.readerLinesAfter = linesOf(chosen.size);
    if (const auto* variables = std::get_if<AlignVariables>(&chosen.change)) {
      uint64_t before = 0;
      for (const Variable& variable : variables->variables) before += variable.size;
      advice.bytesTotal = advice.bytesPerInstance = chosen.size - std::min(chosen.size, before);
      advice.readerLinesBefore = 1;
      advice.readerLinesAfter = variables->variables.size();
      return;
    }
    if (advice.elementsInRow > 1) return addRows(subject, advice);
    const auto* split = std::get_if<SplitMembers>(&chosen.change);
    if (split != nullptr) advice.readerLinesAfter = linesOf(*split, 1);
    if (subject.count == 0) return;
    advice.bytesTotal = advice.bytesPerInstance * subject.count;
    if (waits.between <= 0 || subject.count == 1) return;
    advice.readerLinesBefore = linesOf(subject.size * subject.count);  // of all objects
    advice.readerLinesAfter =
        split != nullptr ? linesOf(*split, subject.count) : linesOf(chosen.size) * subject.count;
  }

  /// Elements stay beside those of the same thread: each such row is filled up to whole lines.
  void addRows(const analysis::Subject& subject, Advice& advice) const {
    const uint64_t bytes = advice.elementsInRow * subject.size;
    advice.bytesPerInstance = analysis::roundUp(bytes, lineSize()) - bytes;
    advice.readerLinesBefore = advice.readerLinesAfter = linesOf(bytes);
    if (subject.count <= advice.elementsInRow) return;
    const uint64_t rows = (subject.count + advice.elementsInRow - 1) / advice.elementsInRow;
    advice.bytesTotal = rows * advice.bytesPerInstance;
    advice.readerLinesBefore = linesOf(subject.count * subject.size);
    advice.readerLinesAfter = rows * linesOf(bytes);
  }

  /// How many pads the way takes in Go, which aligns nothing: on both sides of an object, and between groups
  /// of members or elements.
  static uint64_t padsOfGo(const Candidate& chosen) {
    if (const auto* members = std::get_if<ChangeMembers>(&chosen.change)) {
      const auto& order = members->layout.order;
      return static_cast<uint64_t>(std::count_if(order.begin() + !order.empty(), order.end(),
                                                 [](const PlacedMember& each) { return each.startsLine; }));
    }
    if (const auto* variables = std::get_if<AlignVariables>(&chosen.change))
      return 2 * variables->variables.size();
    return chosen.way == Way::stride ? 1 : 2;
  }

  /// A sum of copies, one on a line of each thread's own: a sketch.
  void addCopies(const Waits& waits, Advice& advice) const {
    advice.way = Way::perThread;
    advice.contendedLeft = std::clamp(1 - waits.atSums / waits.all, 0.0, 1.0);
    advice.trulyLeft = std::clamp((waits.truly - waits.atSums) / waits.all, 0.0, advice.contendedLeft);
    const bool isGo = advice.language == symbols::Language::go;
    advice.bytesPerInstance = waits.adders.size() * (isGo ? sizeof(uint64_t) + kGoPad : lineSize());
    advice.readerLinesBefore = 1;
    advice.readerLinesAfter = waits.adders.size();
    if (const auto cycles = excessCycles(report_, waits.lines))
      advice.excessCycles = *cycles * (1 - advice.contendedLeft);
  }

  uint64_t linesOf(uint64_t bytes) const {
    return std::max<uint64_t>(1, analysis::roundUp(bytes, lineSize()) / lineSize());
  }
  uint64_t linesOf(const SplitMembers& change, uint64_t objects) const {
    uint64_t lines = 0;
    for (const uint64_t size : change.split.sizes) lines += linesOf(size * objects);
    return lines;
  }

  /// Bytes of the smallest first-level data cache.
  uint64_t firstLevelCache() const {
    uint64_t least = 0;
    for (const analysis::DataCache& cache : analysis::cachesOf(report_.metaJson))
      if (cache.level == 1) least = least == 0 ? cache.bytes : std::min(least, cache.bytes);
    return least == 0 ? kFirstLevelCache : least;
  }

  /// The written members of all objects of an array in arrays of their own, where objects padded to `padded`
  /// bytes no longer fit a first-level cache: readers of the others would then wait for memory.
  template <typename TryMove>
  void trySplit(uint32_t number, uint64_t padded, const MemberGroups& groups, TryMove tryMove) {
    const analysis::Subject& subject = of(number);
    if ((!subject.inArrays && subject.elements < 2) ||
        std::max(subject.count, subject.elements) <= firstLevelCache() / padded)
      return;
    if (auto split = splitOff(*subject.described, groups))
      tryMove(Way::split, SplitMembers{*split}, split->size(), moves_.split(number, *split));
  }

  std::vector<Candidate> candidatesFor(uint32_t number, const std::vector<Waits>& waits,
                                       const MemberGroups& groups) {
    const analysis::Subject& subject = of(number);
    const Waits& here = waits[number];
    std::vector<Candidate> list;
    const double least = kWorthIt * here.all;
    const auto tryMove = [&](Way way, Change change, uint64_t size, const Move& move) {
      list.push_back({way, std::move(change), size, replay_(here.lines, move, lineSize())});
    };
    if ((here.inside + here.between >= least || here.victims > 0) && subject.described != nullptr &&
        !subject.fixed) {
      if (groups.groups.size() > 1) {
        const MemberLayout layout = layOut(*subject.described, groups, lineSize());
        tryMove(layout.reordered ? Way::reorder : Way::pad, ChangeMembers{layout}, layout.size,
                moves_.apart(number, [this, number, layout](uint64_t offset) {
                  return layout.movedTo(*of(number).described, offset);
                }));
        trySplit(number, std::max(layout.size, analysis::roundUp(subject.size, lineSize())), groups, tryMove);
      }
    }
    if (here.between >= least || (here.straddles && subject.described != nullptr)) {
      const uint64_t size = analysis::roundUp(subject.size, lineSize());
      const Move move = moves_.apart(number, [](uint64_t offset) { return offset; });
      if (subject.kind == analysis::Subject::Kind::type) {
        // Elements of an array keep the distance of a line wherever malloc() puts the array.
        if (needsAllocator(subject) && subject.inArrays)
          tryMove(subject.opaque ? Way::stride : Way::align, subject.opaque ? Change{} : AlignType{}, size,
                  moves_.spread(number, size));
        tryMove(needsAllocator(subject) ? Way::allocate : Way::align, changeOfType(subject, here), size,
                move);
      } else if (subject.kind == analysis::Subject::Kind::elements) {
        tryMove(Way::stride, {}, size, move);
      } else if (subject.kind == analysis::Subject::Kind::block) {
        tryMove(Way::allocate, allocation(subject, here), size, move);
      }
    }
    if (here.elsewhere >= least) tryNeighbours(number, waits, tryMove);
    return list;
  }

  /// Variables that share lines, and objects that lie beside them.
  template <typename TryMove>
  void tryNeighbours(uint32_t number, const std::vector<Waits>& waits, TryMove tryMove) {
    std::set<uint32_t> together{number};
    for (const auto& [other, samples] : waits[number].others)
      if (samples >= kWorthIt / 2 * waits[number].all) together.insert(other);
    const Move move = moves_.neighbours(together);
    AlignVariables variables;
    uint64_t size = 0;
    for (const uint32_t subject : together) {
      const analysis::Subject& each = of(subject);
      if (each.unaligned || each.variables.empty()) {
        if (subject != number || !each.unaligned) continue;
        tryMove(Way::allocate, allocation(each, waits[subject]), analysis::roundUp(each.size, lineSize()),
                move);
        return;
      }
      for (const auto& [name, variable] : each.variables) {
        variables.variables.push_back({name, variable.type, variable.bytes, variable.definition});
        size += analysis::roundUp(variable.bytes, lineSize());
      }
    }
    if (variables.variables.empty()) return;
    variables.binary = binaryOf(variables.variables.front().name);
    tryMove(Way::align, variables, size, move);
  }

  symbols::Language languageOf(const analysis::Subject& subject, const Waits& waits) const {
    using symbols::Language;
    if (subject.described != nullptr && subject.described->language != Language::unknown)
      return subject.described->language;
    if (subject.definition)
      if (const Language known = symbols::languageOfFile(subject.definition->file);
          known != Language::unknown)
        return known;
    std::map<Language, uint64_t> samples;
    for (const uint32_t line : waits.lines)
      for (const analysis::Access& access : report_.lines[line].accesses)
        samples[symbols::languageOfFile(*analysis::ownCode(*access.code).file)] += access.contended;
    samples.erase(Language::unknown);
    const auto most = std::max_element(samples.begin(), samples.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == samples.end() ? Language::unknown : most->first;
  }

  /// Other binaries may have been compiled with its layout: a header of a shared library defines it.
  static bool isPublic(const analysis::Subject& subject) {
    if (subject.described == nullptr || !subject.definition) return false;
    const std::string& file = subject.definition->file;
    const bool header =
        file.ends_with(".h") || file.ends_with(".hpp") || file.ends_with(".hh") || file.ends_with(".hxx");
    return header && subject.described->object.find(".so") != std::string::npos;
  }

  static bool isC(const analysis::Subject& subject) {
    return subject.definition &&
           (subject.definition->file.ends_with(".c") || subject.definition->file.ends_with(".h"));
  }
  /// An aligned type does not align what malloc() gives.
  static bool needsAllocator(const analysis::Subject& subject) {
    return subject.opaque || (subject.unaligned && isC(subject));
  }

  /// That defines a variable; empty: not known.
  std::string binaryOf(const std::string& variable) const {
    const auto found = std::ranges::find_if(
        report_.objects, [&](const analysis::ObjectSum& object) { return object.object == variable; });
    return found == report_.objects.end() ? "" : found->binary;
  }

  Change allocation(const analysis::Subject& subject, const Waits& waits) const {
    if (subject.described == nullptr && !subject.allocation) return {};
    Allocate change;
    if (subject.described != nullptr) {
      change.type = subject.described->name;
      change.binary = subject.described->binary;
    }
    if (subject.allocation && !subject.allocation->place.file.empty()) {
      change.call = subject.allocation->place;
      change.function = subject.allocation->function;
    } else if (change.type.empty()) {
      return {};
    } else {
      change.files = sourcesOf(waits);
    }
    return change;
  }

  /// Of the code that accesses the lines of a subject, each once.
  std::vector<std::string> sourcesOf(const Waits& waits) const {
    constexpr size_t kMost = 32;
    std::set<std::string> files;
    for (const uint32_t line : waits.lines)
      for (const analysis::Access& access : report_.lines[line].accesses)
        if (const std::string& file = *analysis::ownCode(*access.code).file;
            !file.empty() && files.size() < kMost)
          files.insert(file);
    return {files.begin(), files.end()};
  }

  Change changeOfType(const analysis::Subject& subject, const Waits& waits) const {
    if (needsAllocator(subject)) return allocation(subject, waits);
    return AlignType{};
  }

  /// What steps that need two words wait for more where the words are apart: contended samples.
  double stepCost(const std::vector<uint32_t>& lines, const Candidate& candidate) const {
    std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint64_t>> placeOf;  // by line and use
    for (const ReplayedLine& line : candidate.after.lines)
      for (const auto& use : line.uses) placeOf[use] = {line.start.space, line.start.address};
    double cost = 0;
    for (const uint32_t number : lines) {
      const analysis::Line& line = report_.lines[number];
      const auto placeOfWord = [&](uint32_t word) -> std::optional<std::pair<uint32_t, uint64_t>> {
        const analysis::LineWord& at = line.words[word];
        const auto& uses = line.history->accesses.uses;
        for (uint32_t use = 0; use < uses.size(); ++use) {
          if (uses[use].offset < at.offset || uses[use].offset >= at.offset + at.size) continue;
          const auto found = placeOf.find({number, use});
          if (found != placeOf.end()) return found->second;
        }
        return std::nullopt;
      };
      for (const analysis::WaitCause& cause : line.causes) {
        if (cause.sameStep <= 0 || placeOfWord(cause.word) == placeOfWord(cause.cause)) continue;
        cost += cause.share * static_cast<double>(line.contended) * cause.falsely * cause.sameStep;
      }
    }
    return cost;
  }

  Why whyOf(const analysis::Finding& finding, const Waits& waits, bool allLocked,
            const Candidate* chosen) const {
    if (chosen == nullptr) {
      if (finding.verdict != analysis::Verdict::trueSharing || analysis::cannotTell(finding))
        return Why::notKnown;
      return allLocked ? Why::lockWithOwnData : Why::trueSharing;
    }
    const analysis::Subject& subject = of(finding.subject);
    const bool partsMembers = std::holds_alternative<ChangeMembers>(chosen->change);
    if (!partsMembers && waits.between >= std::max(waits.inside, waits.elsewhere)) {
      const bool couldFit = subject.size % lineSize() == 0 || waits.straddles;
      return couldFit ? Why::alignment : Why::unrelatedOwners;
    }
    return 2 * waits.besideRead > waits.all - waits.truly ? Why::mixedUse : Why::unrelatedOwners;
  }

  /// How sure the false part is, and that there are samples enough to say so.
  static double confidenceOf(const Waits& waits, bool helps) {
    if (waits.all <= 0) return 0;
    const double width = std::min(1.0, (waits.high - waits.low) / waits.all);
    const double enough = waits.all / (waits.all + analysis::kFewestSamples);
    const double sure = helps ? std::max(waits.low / waits.all, 1 - width) : 1 - width;
    return std::clamp(sure * enough, 0.0, 1.0);
  }

  AdviceList list_;
  const Report& report_;
  const analysis::Subjects subjects_;
  const Moves moves_;
  const Replay replay_;
  const LockedWords locked_;
  const std::optional<calibration::Calibration> calibration_;
};

}  // namespace

AdviceList advise(const Report& report) {
  return Advisor(report).run();
}

}  // namespace cacheline::advice
