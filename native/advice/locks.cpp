// Locks that functions hold at their accesses.
#include "advice/locks.h"

#include <algorithm>
#include <optional>

#include "analysis/line_history.h"

namespace cacheline::advice {

namespace {

struct CodeUse {
  uint64_t address = 0;  ///< of the instruction, in its binary
  WordOfLine word;
  bool takes = false, stores = false;  ///< `stores`: without a bus lock
};

struct Held {
  uint64_t from = 0, to = ~uint64_t{0};
};

/// The locks that one function takes, and where it holds them.
std::map<WordOfLine, Held> heldBy(const std::vector<CodeUse>& function) {
  std::map<WordOfLine, Held> held;
  for (const CodeUse& use : function) {
    if (!use.takes) continue;
    const auto [lock, isNew] = held.try_emplace(use.word, Held{use.address});
    if (!isNew) lock->second.from = std::min(lock->second.from, use.address);
  }
  for (auto& [lock, stretch] : held) {
    uint64_t last = 0;
    for (const CodeUse& use : function)
      if (use.word == lock && use.stores && use.address > stretch.from) last = std::max(last, use.address);
    if (last != 0) stretch.to = last;
  }
  return held;
}

/// Of which object, and its name.
using Member = std::pair<uint64_t, std::string>;

/// Of a subject's object, at a word; empty: it is elsewhere.
std::optional<Member> memberAt(const analysis::Report& report, const analysis::Subjects& subjects,
                               uint32_t subject, const WordOfLine& word) {
  const analysis::Line& line = report.lines[word.first];
  for (const analysis::Holder& holder :
       subjects.at(word.first, line.address + line.words[word.second].offset))
    if (holder.subject == subject && holder.member != analysis::kNone &&
        subjects.list()[subject].described != nullptr)
      return Member(holder.base, subjects.list()[subject].described->own[holder.member].name);
  return std::nullopt;
}

}  // namespace

LockedWords locksOf(const analysis::Report& report) {
  LockedWords result;
  std::map<uint64_t, std::vector<CodeUse>> functions;
  for (uint32_t number = 0; number < report.lines.size(); ++number) {
    const analysis::Line& line = report.lines[number];
    if (!line.history || line.words.empty()) continue;
    const analysis::LineAccesses& accesses = line.history->accesses;
    for (size_t i = 0; i < accesses.uses.size(); ++i) {
      const analysis::WordStatistics& use = accesses.uses[i];
      const std::optional<uint32_t> row = line.history->rows[i];
      const auto word = std::ranges::find_if(line.words, [&](const analysis::LineWord& each) {
        return use.offset >= each.offset && use.offset < each.offset + each.size;
      });
      if (!row || word == line.words.end()) continue;
      const WordOfLine at{number, static_cast<uint32_t>(word - line.words.begin())};
      functions[use.function].push_back(
          {line.accesses[*row].elfAddress, at, use.swaps, use.writes && !use.locked && use.later == analysis::LaterWrite::none});
      if (use.swaps) result.locks.insert(at);
    }
  }
  std::map<WordOfLine, std::optional<std::set<WordOfLine>>> common;
  for (const auto& [function, uses] : functions) {
    const std::map<WordOfLine, Held> held = heldBy(uses);
    for (const CodeUse& use : uses) {
      if (result.locks.contains(use.word)) continue;
      std::set<WordOfLine> here;
      for (const auto& [lock, stretch] : held)
        if (use.address > stretch.from && use.address < stretch.to) here.insert(lock);
      std::optional<std::set<WordOfLine>>& all = common[use.word];
      if (!all) {
        all = std::move(here);
        continue;
      }
      std::erase_if(*all, [&](const WordOfLine& lock) { return !here.contains(lock); });
    }
  }
  for (const auto& [word, locks] : common)
    if (!locks->empty()) result.protectedBy[word].assign(locks->begin(), locks->end());
  return result;
}

std::vector<Lock> locksIn(const analysis::Report& report, const analysis::Subjects& subjects,
                          const LockedWords& locked, uint32_t subject, std::span<const uint32_t> lines) {
  std::map<std::string, std::set<std::string>> found;
  for (const uint32_t line : lines) {
    for (uint32_t word = 0; word < report.lines[line].words.size(); ++word) {
      const auto at = memberAt(report, subjects, subject, {line, word});
      if (!at) continue;
      if (locked.locks.contains({line, word})) found.try_emplace(at->second);
      const auto locks = locked.protectedBy.find({line, word});
      if (locks == locked.protectedBy.end()) continue;
      for (const WordOfLine& lock : locks->second)
        if (const auto by = memberAt(report, subjects, subject, lock);
            by && by->first == at->first && by->second != at->second)
          found[by->second].insert(at->second);
    }
  }
  std::vector<Lock> list;
  for (const auto& [name, data] : found) list.push_back({name, {data.begin(), data.end()}});
  return list;
}

bool isAllLocked(const analysis::Report& report, const analysis::Subjects& subjects,
                 const LockedWords& locked, uint32_t subject, std::span<const uint32_t> lines) {
  std::set<Member> locks;
  std::vector<std::pair<Member, WordOfLine>> data;
  for (const uint32_t line : lines) {
    for (uint32_t word = 0; word < report.lines[line].words.size(); ++word) {
      const auto at = memberAt(report, subjects, subject, {line, word});
      if (!at) continue;
      if (locked.locks.contains({line, word}))
        locks.insert(*at);
      else
        data.push_back({*at, {line, word}});
    }
  }
  bool any = false;
  for (const auto& [member, word] : data) {
    if (locks.contains(member)) continue;  // of the lock itself
    const auto by = locked.protectedBy.find(word);
    if (by == locked.protectedBy.end()) return false;
    any |= std::ranges::any_of(by->second, [&, object = member.first](const WordOfLine& lock) {
      const auto of = memberAt(report, subjects, subject, lock);
      return of && of->first == object;
    });
  }
  return any;
}

}  // namespace cacheline::advice
