// Turns between threads, and the sentence they make.
#include "analysis/watch_verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

namespace cacheline::analysis {

namespace {

constexpr uint64_t kEnoughTurns = 2;  // A B A
constexpr size_t kNamed = 3;

template <typename T>
std::vector<T> sorted(const std::set<T>& set) {
  return {set.begin(), set.end()};
}

std::string milliseconds(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, ms < 10 ? "%.1f ms" : "%.0f ms", ms);
  return text;
}

/// "12,345".
std::string grouped(uint64_t count) {
  std::string text = std::to_string(count);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string threads(size_t count) {
  return std::to_string(count) + (count == 1 ? " thread" : " threads");
}

std::string nameOf(const ConfirmedWord& word) {
  return word.name.empty() ? "byte " + std::to_string(word.offset) : "'" + word.name + "'";
}

/// "'a' and 'b'", "'a', 'b', 'c' and 2 more".
std::string names(const std::vector<ConfirmedWord>& words, const std::vector<uint32_t>& which) {
  std::vector<std::string> list;
  for (const uint32_t word : which) list.push_back(nameOf(words[word]));
  if (list.size() > kNamed + 1) {
    const size_t more = list.size() - kNamed;
    list.resize(kNamed);
    list.push_back(std::to_string(more) + " more");
  }
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) text += i + 1 == list.size() ? " and " : ", ";
    text += list[i];
  }
  return text;
}

/// Some of the words that took part were only read: who writes and who reads is of different words.
std::string writersAndReaders(const Turns& turns, const std::vector<ConfirmedWord>& words,
                              const std::vector<uint32_t>& written, const std::vector<uint32_t>& onlyRead,
                              const std::vector<uint32_t>& unknown) {
  std::set<uint32_t> readers;
  for (const uint32_t word : onlyRead) readers.insert(words[word].readers.begin(), words[word].readers.end());
  std::string text = threads(turns.writers.size()) + (turns.writers.size() == 1 ? " writes " : " write ") +
                     names(words, written) + " and " + std::to_string(readers.size()) +
                     (readers.size() == 1 ? " reads " : " read ") + names(words, onlyRead);
  if (!unknown.empty()) text += " and " + names(words, unknown) + " are read or written";
  return text;
}

std::string confirmedSentence(const Turns& turns, const std::vector<ConfirmedWord>& words, uint64_t count,
                              double ms) {
  std::vector<uint32_t> written, onlyRead, unknown;
  for (const uint32_t word : turns.words) {
    const ConfirmedWord& seen = words[word];
    (seen.writes > 0 ? written : seen.unknown == 0 ? onlyRead : unknown).push_back(word);
  }
  std::string who;
  if (!written.empty() && !onlyRead.empty()) {
    who = writersAndReaders(turns, words, written, onlyRead, unknown);
  } else {
    who = threads(turns.writers.size()) + (turns.writers.size() == 1 ? " writes" : " write");
    const auto add = [&who](size_t more, const char* one, const char* several) {
      if (more > 0) who += " and " + std::to_string(more) + (more == 1 ? one : several);
    };
    add(turns.readers.size(), " reads", " read");
    add(turns.others.size(), " reads or writes", " read or write");
    who += " " + names(words, turns.words);
  }
  return who + " in turn: seen " + grouped(count) + " times in " + milliseconds(ms);
}

std::string otherwise(Verdict verdict, std::span<const SeenAccess> seen, const Turns& turns,
                      const std::vector<ConfirmedWord>& words, double ms) {
  const std::string in = " in " + milliseconds(ms);
  if (seen.empty()) return "no access to the watched words was seen" + in;
  std::set<std::pair<uint32_t, uint32_t>> who;
  bool written = false;
  size_t unknown = 0;
  for (const SeenAccess& access : seen) {
    who.emplace(access.pid, access.tid);
    written |= access.writes();
    unknown += access.kind == SeenAccess::Kind::unknown;
  }
  if (!isContended(verdict)) {
    const std::string maybe = " seen, but " + grouped(unknown) + " of " + grouped(seen.size()) +
                              " accesses may or may not be writes,";
    return threads(who.size()) +
           (written        ? " seen, with writes,"
            : unknown == 0 ? " seen, and no write,"
                           : maybe) +
           in;
  }
  const auto touched = static_cast<size_t>(
      std::count_if(words.begin(), words.end(), [](const ConfirmedWord& word) { return word.hits() > 0; }));
  if (who.size() == 1) return "only one thread was seen" + in;
  if (verdict == Verdict::falseSharing && turns.sameBytes >= turns.otherBytes && turns.common)
    return "threads were seen to use the same bytes, too," + in;
  if (touched < words.size())
    return "only " + std::to_string(touched) + " of " + std::to_string(words.size()) + " words " +
           (touched == 1 ? "was" : "were") + " seen" + in;
  return "no threads were seen taking turns" + in;
}

/// Which bytes the threads that took turns have in common.
void useOfBytes(std::span<const SeenAccess> seen, Turns& turns) {
  std::map<std::pair<uint32_t, uint32_t>, ByteMask> byThread;
  for (const SeenAccess& access : seen) {
    if (!turns.tookPart(access.tid)) continue;
    ByteMask& mask = byThread[{access.pid, access.tid}];
    for (uint32_t byte = access.begin; byte < std::min(access.end, kMaxLineSize); ++byte) mask.set(byte);
  }
  ByteMask once, twice;
  for (const auto& [thread, mask] : byThread) {
    twice |= once & mask;
    once |= mask;
  }
  turns.common = twice.any();
  turns.own = (once & ~twice).any();
}

}  // namespace

bool Turns::tookPart(uint32_t tid) const {
  return std::ranges::any_of(std::initializer_list<const std::vector<uint32_t>*>{&writers, &readers, &others},
                             [tid](const auto* tids) { return std::ranges::binary_search(*tids, tid); });
}

Turns turnsOf(std::span<const SeenAccess> seen) {
  Turns turns;
  std::set<uint32_t> writers, readers, others, words;
  for (size_t i = 1; i < seen.size(); ++i) {
    const SeenAccess &a = seen[i - 1], &b = seen[i];
    if (a.window != b.window || (a.pid == b.pid && a.tid == b.tid)) continue;
    ++turns.alternations;
    if (!a.writes() && !b.writes()) continue;
    const bool same = a.begin < b.end && b.begin < a.end;
    ++(same ? turns.sameBytes : turns.otherBytes);
    for (const SeenAccess* access : {&a, &b}) {
      (access->writes()                            ? writers
       : access->kind == SeenAccess::Kind::unknown ? others
                                                   : readers)
          .insert(access->tid);
      words.insert(access->word);
    }
  }
  for (const uint32_t tid : writers) others.erase(tid);
  for (const auto* known : {&writers, &others})
    for (const uint32_t tid : *known) readers.erase(tid);
  turns.writers = sorted(writers);
  turns.readers = sorted(readers);
  turns.others = sorted(others);
  turns.words = sorted(words);
  useOfBytes(seen, turns);
  return turns;
}

Verdict verdictOf(std::span<const SeenAccess> seen, const Turns& turns) {
  if (turns.count() >= kEnoughTurns) {
    if (!turns.common) return Verdict::falseSharing;
    return turns.own ? Verdict::mixed : Verdict::trueSharing;
  }
  const bool onlyRead = std::ranges::all_of(
      seen, [](const SeenAccess& access) { return access.kind == SeenAccess::Kind::read; });
  return turns.alternations >= kEnoughTurns && onlyRead ? Verdict::readShared : Verdict::privateLine;
}

Confirmation confirm(Verdict verdict, std::span<const SeenAccess> seen, const Turns& turns,
                     std::vector<ConfirmedWord> words, double watchedMs) {
  Confirmation result;
  result.alternations = turns.alternations;
  uint64_t count = 0;
  switch (verdict) {
    case Verdict::falseSharing:
      count = turns.otherBytes > turns.sameBytes ? turns.count() : 0;
      break;
    case Verdict::trueSharing:
      count = turns.common ? turns.count() : 0;
      break;
    case Verdict::mixed:
      count = turns.common ? turns.count() : 0;
      break;
    case Verdict::readShared:  // that nobody writes cannot be seen
    case Verdict::privateLine:
      break;
  }
  result.confirmed = count >= kEnoughTurns;
  result.sentence = result.confirmed ? confirmedSentence(turns, words, count, watchedMs)
                                     : otherwise(verdict, seen, turns, words, watchedMs);
  result.words = std::move(words);
  return result;
}

}  // namespace cacheline::analysis
