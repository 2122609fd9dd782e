// Causes of waiting, by the objects that hold their words.
#include "advice/relations.h"

#include <algorithm>

#include "analysis/line_history.h"
#include "analysis/verdict.h"

namespace cacheline::advice {

namespace {

void addLine(Waits& waits, uint32_t line, const analysis::Line& from) {
  if (waits.lines.empty() || waits.lines.back() != line) waits.lines.push_back(line);
  const auto has = [&](const char* flag) {
    return std::find(from.flags.begin(), from.flags.end(), flag) != from.flags.end();
  };
  waits.straddles |= has("straddling");
}

/// By word of a line: whether most of the false waiting there is by steps that do without its causes.
std::vector<bool> helpedWords(const analysis::Line& line) {
  std::vector<double> falsely(line.words.size()), sameStep(line.words.size());
  for (const analysis::WaitCause& cause : line.causes) {
    falsely[cause.word] += cause.share * cause.falsely;
    sameStep[cause.word] += cause.share * cause.falsely * cause.sameStep;
  }
  std::vector<bool> helped;
  for (size_t word = 0; word < falsely.size(); ++word) helped.push_back(2 * sameStep[word] < falsely[word]);
  return helped;
}

/// By word of a line: whether most samples at words that are used like it are by actors that write none of
/// these.
std::vector<bool> wordsOfReaders(const analysis::Line& line) {
  struct Use {
    double samples = 0;
    bool writes = false;
  };
  const analysis::LineAccesses& accesses = line.history->accesses;
  std::map<uint32_t, std::map<uint32_t, Use>> groups;  // by group, by actor
  const auto each = [&](uint32_t offset, uint32_t width, uint32_t actor, auto&& add) {
    for (const analysis::LineWord& word : line.words)
      if (offset < word.offset + word.size && word.offset < offset + std::max(width, 1u))
        add(groups[word.group][actor]);
  };
  for (const analysis::PlaceSample& sample : accesses.samples) {
    const analysis::WordStatistics& use = accesses.uses[sample.use];
    each(use.offset, use.width, accesses.visitors[sample.visitor].actor, [&](Use& by) {
      by.samples += sample.weight;
      by.writes |= use.writes;
    });
  }
  for (const analysis::KnownUse& known : accesses.known)
    if (known.writes) each(known.offset, known.width, known.actor, [](Use& by) { by.writes = true; });
  std::vector<bool> result;
  for (const analysis::LineWord& word : line.words) {
    double all = 0, byReaders = 0;
    for (const auto& [actor, use] : groups[word.group]) {
      all += use.samples;
      if (!use.writes) byReaders += use.samples;
    }
    result.push_back(2 * byReaders > all);
  }
  return result;
}

/// By word of a line: the threads (as analysis::LineHistory) that add to it; empty where fewer than two do,
/// or more than a few samples are of something else.
std::vector<std::set<uint32_t>> addersOf(const analysis::Line& line) {
  constexpr double kLeast = 0.95;  // a sum is read now and then
  const analysis::LineAccesses& accesses = line.history->accesses;
  std::vector<std::set<uint32_t>> adders(line.words.size());
  std::vector<double> all(line.words.size()), added(line.words.size());
  for (const analysis::PlaceSample& sample : accesses.samples) {
    const analysis::WordStatistics& use = accesses.uses[sample.use];
    for (size_t word = 0; word < line.words.size(); ++word) {
      const analysis::LineWord& at = line.words[word];
      if (use.offset < at.offset || use.offset >= at.offset + at.size) continue;
      all[word] += sample.weight;
      if (!use.adds) continue;
      added[word] += sample.weight;
      adders[word].insert(line.history->threads[sample.visitor]);
    }
  }
  for (size_t word = 0; word < adders.size(); ++word)
    if (adders[word].size() < 2 || added[word] < kLeast * all[word]) adders[word].clear();
  return adders;
}

/// By word of a line: the actors that write it.
std::vector<std::set<uint32_t>> writersOf(const analysis::Line& line) {
  const analysis::LineAccesses& accesses = line.history->accesses;
  std::vector<std::set<uint32_t>> writers(line.words.size());
  const auto add = [&](uint32_t offset, uint32_t width, uint32_t actor) {
    for (size_t word = 0; word < line.words.size(); ++word) {
      const analysis::LineWord& at = line.words[word];
      if (offset < at.offset + at.size && at.offset < offset + std::max(width, 1u))
        writers[word].insert(actor);
    }
  };
  for (const analysis::PlaceSample& sample : accesses.samples)
    if (const analysis::WordStatistics& use = accesses.uses[sample.use]; use.writes)
      add(use.offset, use.width, accesses.visitors[sample.visitor].actor);
  for (const analysis::KnownUse& known : accesses.known)
    if (known.writes) add(known.offset, known.width, known.actor);
  return writers;
}

bool areApart(const std::set<uint32_t>& a, const std::set<uint32_t>& b) {
  return !a.empty() && !b.empty() && std::ranges::none_of(a, [&](uint32_t each) { return b.contains(each); });
}

}  // namespace

std::vector<Waits> waitsOf(const analysis::Report& report, const analysis::Subjects& subjects) {
  std::vector<Waits> result(subjects.list().size());
  for (uint32_t number = 0; number < report.lines.size(); ++number) {
    const analysis::Line& line = report.lines[number];
    if (!analysis::isContended(line.verdict) || line.contended == 0) continue;
    std::vector<std::vector<analysis::Holder>> holders;
    for (const analysis::LineWord& word : line.words)
      holders.push_back(subjects.at(number, line.address + word.offset));
    const std::vector<bool> helped = helpedWords(line), ofReaders = wordsOfReaders(line);
    const std::vector<std::set<uint32_t>> adders = addersOf(line), writers = writersOf(line);
    for (const analysis::Victim& victim : line.victims) {
      if (victim.words.empty() || !helped[victim.words.front()] || holders[victim.words.front()].empty())
        continue;
      result[holders[victim.words.front()].back().subject].victims += static_cast<double>(victim.contended);
    }
    for (const analysis::WaitCause& cause : line.causes) {
      const std::vector<analysis::Holder>&at = holders[cause.word], &by = holders[cause.cause];
      if (at.empty()) continue;
      const double all = cause.share * static_cast<double>(line.contended);
      const double falsely = all * cause.falsely * (1 - cause.sameStep);
      const auto [holder, relation] = subjects.toldOf(at, by, cause.word == cause.cause);
      Waits& waits = result[holder.subject];
      addLine(waits, number, line);
      waits.all += all;
      if (cause.word == cause.cause && !adders[cause.word].empty()) {
        waits.atSums += all - falsely;
        waits.adders.insert(adders[cause.word].begin(), adders[cause.word].end());
      }
      if (ofReaders[cause.word] != ofReaders[cause.cause]) waits.besideRead += falsely;
      waits.truly += all - falsely;
      if (cause.sameStep > 0 && areApart(writers[cause.word], writers[cause.cause]))
        waits.betweenSides += all * cause.falsely * cause.sameStep;
      if (holder.member != analysis::kNone) waits.members[holder.member] += all;
      if (line.falseShare) {
        waits.low += all * line.falseShare->low;
        waits.high += all * line.falseShare->high;
      }
      switch (relation) {
        case analysis::Relation::elsewhere:
          waits.elsewhere += falsely;
          if (!by.empty()) waits.others[by.front().subject] += falsely;
          break;
        case analysis::Relation::between:
          waits.between += falsely;
          break;
        case analysis::Relation::inside:
          waits.inside += falsely;
          break;
        case analysis::Relation::member:
        case analysis::Relation::itself:
          waits.member += falsely;
      }
    }
  }
  return result;
}

}  // namespace cacheline::advice
