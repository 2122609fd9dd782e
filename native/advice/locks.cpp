// Locks that functions hold at their accesses.
#include "advice/locks.h"

#include <algorithm>
#include <optional>

#include "analysis/line_history.h"
#include "analysis/lock_uses.h"
#include "decode/lock_step.h"

namespace cacheline::advice {

namespace {

struct CodeUse {
  uint64_t address = 0;  ///< of the instruction, in its binary
  WordOfLine word;
  std::shared_ptr<const decode::LockStep> take;  ///< null: it takes no lock, or gives none back itself
  std::optional<WordOfLine> turn;                ///< that it waits for, see LockStep::turn
};

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
    const std::vector<bool> locks = analysis::lockUses(accesses);
    for (size_t i = 0; i < accesses.uses.size(); ++i) {
      const analysis::WordStatistics& use = accesses.uses[i];
      const std::optional<uint32_t> row = line.history->rows[i];
      const auto wordAt = [&](int64_t offset) -> std::optional<WordOfLine> {
        for (uint32_t word = 0; word < line.words.size(); ++word)
          if (const analysis::LineWord& each = line.words[word];
              offset >= each.offset && offset < int64_t{each.offset} + each.size)
            return WordOfLine{number, word};
        return std::nullopt;
      };
      const std::optional<WordOfLine> known = wordAt(use.offset);
      if (!row || !known) continue;
      const WordOfLine at = *known;
      CodeUse& code = functions[use.function].emplace_back();
      code.address = line.accesses[*row].elfAddress;
      code.word = at;
      if (locks[i] && use.lock && use.lock->isLock()) {
        code.take = use.lock;
        code.turn = wordAt(use.offset + use.lock->turn);
      }
      if (locks[i]) result.locks.insert(at);
    }
  }
  std::map<WordOfLine, std::optional<std::set<WordOfLine>>> common;
  for (const auto& [function, uses] : functions) {
    for (const CodeUse& use : uses) {
      if (result.locks.contains(use.word)) continue;
      std::set<WordOfLine> here;
      for (const CodeUse& other : uses)
        if (other.take && other.take->holdsAt(use.address)) {
          here.insert(other.word);
          if (other.turn) here.insert(*other.turn);
        }
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
