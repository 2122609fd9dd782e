// Words, and the evidence that they are used alike.
#include "analysis/word_groups.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace cacheline::analysis {

namespace {

/// Of a difference that counts: how many samples were to be expected where none came, and -ln of the chance
/// that words used alike look like this. Which of a word's instructions has samples is no matter of chance
/// alone, so that the second one does not suffice.
constexpr double kExpected = 3;
/// Where so many of the samples at both of two words are reads (or writes) at least, these say how many were
/// to be expected: at one of them all may be both. A word with fewer is hardly used that way, and all of its
/// samples say so.
constexpr double kUsual = 0.25;
/// Of actors that use both of two words, how many by chance look as if they kept to one of them.
constexpr double kStray = 0.05;
/// As kExpected, of the chance that the words of two stretches are apart. Of a recording's lines, some
/// hundreds may have stretches.
constexpr double kApart = 2 * kExpected;
/// Who has samples at so many words of a set tells what to expect at its others.
constexpr uint32_t kWalked = 2;
/// A difference that does not count is no ground for a verdict.
constexpr double kMostUndecided = 0.6;
constexpr int kRounds = 12;
/// Shares of users that differ by less are the same: rounding.
constexpr double kSameShare = 1e-9;

/// The chance that of the samples at two words, `here` at one and `there` at the other, all `count` of an
/// actor are at the one; what is smaller than kLeastChance is not told apart.
constexpr double kLeastChance = 1e-7;
double chanceOfAllHere(uint32_t count, uint32_t here, uint32_t there) {
  double chance = 1;
  for (uint32_t k = 0; k < count && chance > kLeastChance; ++k) {
    if (k >= here) return kLeastChance;
    chance *= static_cast<double>(here - k) / static_cast<double>(here - k + there);
  }
  return std::max(chance, kLeastChance);
}

/// Whether enough of what `count` of `here` samples are were to be expected among those `there`.
bool isExpected(uint32_t count, uint32_t here, uint32_t there) {
  return static_cast<double>(count) * there >= kExpected * here;
}

/// Whether an actor was on several threads, or a thread ran several actors.
bool moves(std::span<const Visitor> visitors) {
  std::set<uint32_t> actors, threads;
  for (const Visitor& visitor : visitors) {
    actors.insert(visitor.actor);
    threads.insert(visitor.thread);
  }
  return actors.size() < visitors.size() || threads.size() < visitors.size();
}

bool meet(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y) return true;
    *x < *y ? void(++x) : void(++y);
  }
  return false;
}

}  // namespace

struct WordGroups::Likeness {
  double evidence = 0;     ///< of the strongest difference
  bool differs = false;    ///< whether there is one
  bool alikeByAll = true;  ///< what differs is what chance does to many actors that use both
};

WordGroups::WordGroups(std::span<const WordStatistics> uses, std::span<const PlaceSample> samples,
                       std::span<const Visitor> visitors, std::span<const KnownUse> known,
                       std::span<const StepUse> steps) {
  findWords(uses);
  used_.resize(words_.size());
  for (uint32_t use = 0; use < uses.size(); ++use) used_[wordOf_[use]].codes.push_back(uses[use].code);
  for (WordUse& word : used_) std::sort(word.codes.begin(), word.codes.end());
  for (const PlaceSample& sample : samples) {
    WordUse& word = used_[wordOf_[sample.use]];
    ++word.samples;
    word.reads += uses[sample.use].reads;
    word.writes += uses[sample.use].writes;
  }
  std::vector<uint32_t> actors, threads;
  for (const Visitor& visitor : visitors) {
    actors.push_back(visitor.actor);
    threads.push_back(visitor.thread);
  }
  count(uses, samples, actors, &WordUse::actors);
  if (moves(visitors)) count(uses, samples, threads, &WordUse::threads);
  addKnown(known);
  findStretches(uses, samples, visitors, steps);
  findSets(uses, samples, visitors);
  findWalks(&WordUse::actors, actorWalks_);
  findWalks(&WordUse::threads, threadWalks_);
  findDifferences();
  group();
}

void WordGroups::count(std::span<const WordStatistics> uses, std::span<const PlaceSample> samples,
                       std::span<const uint32_t> userOf, Users WordUse::*users) {
  uint32_t most = 0;
  for (const uint32_t user : userOf) most = std::max(most, user + 1);
  Users dense(words_.size() * most);
  for (const PlaceSample& sample : samples) {
    ByUser& by = dense[wordOf_[sample.use] * size_t{most} + userOf[sample.visitor]];
    by.reads += uses[sample.use].reads;
    by.writes += uses[sample.use].writes;
  }
  for (size_t word = 0; word < words_.size(); ++word) {
    for (uint32_t user = 0; user < most; ++user) {
      ByUser& by = dense[word * most + user];
      by.user = user;
      if (by.reads + by.writes > 0) (used_[word].*users).push_back(by);
    }
  }
}

void WordGroups::addKnown(std::span<const KnownUse> known) {
  for (const KnownUse& use : known) {
    for (size_t word = 0; word < words_.size(); ++word) {
      const LineWord& at = words_[word];
      if (use.offset >= at.offset + at.size || at.offset >= use.offset + use.width) continue;
      Users& users = used_[word].actors;
      auto user = std::lower_bound(users.begin(), users.end(), use.actor,
                                   [](const ByUser& by, uint32_t actor) { return by.user < actor; });
      if (user == users.end() || user->user != use.actor) user = users.insert(user, {use.actor});
      user->knownReads |= use.reads;
      user->knownWrites |= use.writes;
    }
  }
}

void WordGroups::findWords(std::span<const WordStatistics> uses) {
  std::vector<uint32_t> order(uses.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](uint32_t a, uint32_t b) { return uses[a].offset < uses[b].offset; });
  wordOf_.resize(uses.size());
  for (const uint32_t index : order) {
    const WordStatistics& use = uses[index];
    const uint32_t end = use.offset + std::max(use.width, 1u);
    if (words_.empty() || use.offset >= words_.back().offset + words_.back().size)
      words_.push_back({use.offset, end - use.offset, 0});
    LineWord& word = words_.back();
    word.size = std::max(word.size, end - word.offset);
    wordOf_[index] = static_cast<uint32_t>(words_.size() - 1);
  }
}

void WordGroups::findSets(std::span<const WordStatistics> uses, std::span<const PlaceSample> samples,
                          std::span<const Visitor> visitors) {
  setOf_ = stretchOf_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> byFunction;  // by actor: a word that it uses
  for (const PlaceSample& sample : samples) {
    const uint64_t function = uses[sample.use].function;
    const uint32_t word = wordOf_[sample.use];
    const auto [first, isNew] = byFunction.try_emplace({visitors[sample.visitor].actor, function}, word);
    const uint32_t from = setOf_[first->second], to = setOf_[word];
    if (function != 0 && from != to) std::ranges::replace(setOf_, from, to);
  }
  samplesOfSet_.resize(stretches_.size());
  for (size_t word = 0; word < words_.size(); ++word) samplesOfSet_[setOf_[word]] += used_[word].samples;
}

void WordGroups::findWalks(Users WordUse::*users, Walks& walks) const {
  for (uint32_t word = 0; word < words_.size(); ++word) {
    for (const ByUser& by : used_[word].*users) {
      for (const auto& [kind, samples] : {std::pair(Kind::read, by.reads), {Kind::write, by.writes}}) {
        if (samples == 0) continue;
        Walk& walk = walks[{setOf_[word], by.user, kind}];
        ++walk.words;
        walk.samples += samples;
        if (samples <= walk.most) continue;
        walk.most = samples;
        walk.at = word;
      }
    }
  }
}

std::optional<double> WordGroups::expectedAt(Users WordUse::*users, uint32_t user, Kind kind, size_t there,
                                             size_t missing) const {
  if (setOf_[there] != setOf_[missing]) return std::nullopt;
  const Walks& walks = users == &WordUse::actors ? actorWalks_ : threadWalks_;
  const auto found = walks.find({setOf_[there], user, kind});
  if (found == walks.end() || found->second.words < kWalked) return std::nullopt;
  const Walk& walk = found->second;
  const uint32_t others = samplesOfSet_[setOf_[there]] - used_[walk.at].samples - used_[missing].samples;
  return static_cast<double>(walk.samples - walk.most) * used_[missing].samples / std::max(others, 1u);
}

void WordGroups::compare(const Two& two, Users WordUse::*users, Kind kind, Likeness& result) const {
  const WordUse &a = two.a, &b = two.b;
  const auto countOf = [kind](const ByUser& by) { return kind == Kind::read ? by.reads : by.writes; };
  const auto isKnown = [kind](const ByUser& by) {
    return kind == Kind::read ? by.knownReads : by.knownWrites;
  };
  const Users &ofA = a.*users, &ofB = b.*users;
  const uint32_t allA = kind == Kind::read ? a.reads : a.writes,
                 allB = kind == Kind::read ? b.reads : b.writes;
  const auto isUsual = [](uint32_t ofKind, uint32_t samples) { return ofKind >= kUsual * samples; };
  const bool byKind = isUsual(allA, a.samples) && isUsual(allB, b.samples);
  const uint32_t samplesA = byKind ? allA : a.samples, samplesB = byKind ? allB : b.samples;
  bool differs = false;
  uint32_t compared = 0;
  double leastChance = 1;
  double keptApart = 0;  // ln of: actors keep to one word, over: they use both
  /// The least chance that a user of one of the words has no sample at the other one, though it uses both.
  const auto leastOf = [&](uint32_t user, bool isAtA) {
    if (!two.words) return kLeastChance;
    const auto [wordA, wordB] = *two.words;
    const auto expected = expectedAt(users, user, kind, isAtA ? wordA : wordB, isAtA ? wordB : wordA);
    return expected ? std::max(kLeastChance, std::exp(-*expected)) : kLeastChance;
  };
  double walked = 0;  // -ln of the chance that those who use both words have none of their samples at one
  const auto weigh = [&](uint32_t user, uint32_t atA, uint32_t atB) {
    const uint32_t all = atA + atB;
    if (all == 0) return;
    ++compared;
    const double least = atA > 0 && atB > 0 ? kLeastChance : leastOf(user, atA > 0);
    const double onlyA = std::max(least, chanceOfAllHere(all, samplesA, samplesB));
    const double onlyB = std::max(least, chanceOfAllHere(all, samplesB, samplesA));
    const double chance = std::min(1.0, onlyA + onlyB);
    walked -= std::log(least);
    if (atA > 0 && atB > 0) {
      keptApart += std::log(kStray) - std::log(std::max(1 - chance, kStray));
      return;
    }
    differs = true;
    if (atA > 0 ? isExpected(atA, samplesA, samplesB) : isExpected(atB, samplesB, samplesA))
      leastChance = std::min(leastChance, atA > 0 ? onlyA : onlyB);
    keptApart -= std::log(chance);
  };
  for (auto x = ofA.begin(), y = ofB.begin(); x != ofA.end() || y != ofB.end();) {
    const bool takesX = y == ofB.end() || (x != ofA.end() && x->user <= y->user);
    const bool takesY = x == ofA.end() || (y != ofB.end() && y->user <= x->user);
    const uint32_t atA = takesX ? countOf(*x) : 0, atB = takesY ? countOf(*y) : 0;
    const bool isAtBoth = (atA > 0 || (takesX && isKnown(*x))) && (atB > 0 || (takesY && isKnown(*y)));
    if (!isAtBoth || (atA > 0 && atB > 0)) weigh(takesX ? x->user : y->user, atA, atB);
    if (takesX) ++x;
    if (takesY) ++y;
  }
  const bool isKnownOfOther = std::ranges::any_of(allA == 0 ? ofA : ofB, isKnown);
  if ((allA == 0) != (allB == 0) && !isKnownOfOther &&
      (allA > 0 ? isExpected(allA, a.samples, b.samples) : isExpected(allB, b.samples, a.samples)))
    result.evidence = std::max(
        result.evidence, std::min(walked, -std::log(allA > 0 ? chanceOfAllHere(allA, a.samples, b.samples)
                                                             : chanceOfAllHere(allB, b.samples, a.samples))));
  if (std::min(a.samples, b.samples) < kExpected) keptApart = std::min(keptApart, 0.0);
  // Of many actors one looks like that by chance.
  result.evidence = std::max({result.evidence, keptApart, -std::log(leastChance * std::max(compared, 1u))});
  result.differs |= differs;
  if (differs && keptApart > -kExpected) result.alikeByAll = false;
}

WordGroups::Likeness WordGroups::compare(const Two& two) const {
  Likeness result, byThreads;
  for (const Kind kind : {Kind::read, Kind::write}) {
    compare(two, &WordUse::actors, kind, result);
    if (!two.a.threads.empty()) compare(two, &WordUse::threads, kind, byThreads);
  }
  result.evidence = std::max(result.evidence, byThreads.evidence);
  return result;
}

void WordGroups::findStretches(std::span<const WordStatistics> uses, std::span<const PlaceSample> samples,
                               std::span<const Visitor> visitors, std::span<const StepUse> steps) {
  const auto count = static_cast<uint32_t>(words_.size());
  stretchOf_.resize(count);
  std::iota(stretchOf_.begin(), stretchOf_.end(), 0);
  const auto rootOf = [&](uint32_t word) {
    while (stretchOf_[word] != word) word = stretchOf_[word] = stretchOf_[stretchOf_[word]];
    return word;
  };
  uint32_t actors = 0;
  for (const Visitor& visitor : visitors) actors = std::max(actors, visitor.actor + 1);
  std::vector<bool> ran(uses.size() * actors);  // by use and actor
  for (const PlaceSample& sample : samples)
    ran[sample.use * size_t{actors} + visitors[sample.visitor].actor] = true;
  std::vector<uint32_t> byCode(uses.size());
  std::iota(byCode.begin(), byCode.end(), 0);
  std::sort(byCode.begin(), byCode.end(),
            [&](uint32_t a, uint32_t b) { return uses[a].code < uses[b].code; });
  std::vector<uint32_t> lastWord;  // by actor: that it uses by the instruction at hand
  for (size_t i = 0; i < byCode.size(); ++i) {
    const uint32_t use = byCode[i];
    if (i == 0 || uses[byCode[i - 1]].code != uses[use].code) lastWord.assign(actors, kNobody);
    for (uint32_t actor = 0; actor < actors; ++actor) {
      if (!ran[use * size_t{actors} + actor]) continue;
      uint32_t& last = lastWord[actor];
      if (last != kNobody) stretchOf_[rootOf(wordOf_[use])] = rootOf(last);
      last = wordOf_[use];
    }
  }
  for (const StepUse& step : steps)
    for (uint32_t word = 0; word < count; ++word)
      if (step.offset < words_[word].offset + words_[word].size &&
          words_[word].offset < step.offset + step.width)
        stretchOf_[rootOf(word)] = rootOf(wordOf_[step.use]);
  std::vector<uint32_t> numbers(count, kNobody), roots;
  for (uint32_t word = 0; word < count; ++word) roots.push_back(rootOf(word));
  for (uint32_t word = 0; word < count; ++word) {
    uint32_t& number = numbers[roots[word]];
    if (number == kNobody) {
      number = static_cast<uint32_t>(stretches_.size());
      stretches_.emplace_back();
    }
    stretchOf_[word] = number;
    Stretch& stretch = stretches_[number];
    const WordUse& used = used_[word];
    ++stretch.words;
    stretch.used.samples += used.samples;
    stretch.used.reads += used.reads;
    stretch.used.writes += used.writes;
    for (const auto users : {&WordUse::actors, &WordUse::threads}) {
      for (const ByUser& by : used.*users) {
        Users& all = stretch.used.*users;
        auto user = std::lower_bound(all.begin(), all.end(), by.user,
                                     [](const ByUser& each, uint32_t other) { return each.user < other; });
        if (user == all.end() || user->user != by.user) user = all.insert(user, {by.user});
        user->reads += by.reads;
        user->writes += by.writes;
        user->knownReads |= by.knownReads;
        user->knownWrites |= by.knownWrites;
      }
    }
  }
  apart_.resize(stretches_.size() * stretches_.size());
}

bool WordGroups::areApart(size_t a, size_t b) {
  const uint32_t first = stretchOf_[a], second = stretchOf_[b];
  if (first == second) return false;
  std::optional<bool>& known = apart_[first * stretches_.size() + second];
  if (known) return *known;
  const Stretch &of = stretches_[first], &other = stretches_[second];
  // The chance that the words of the one miss all of the other's, had both gone through all words that there
  // may be from the first to the last one.
  uint32_t start = ~uint32_t{0}, end = 0, size = ~uint32_t{0};
  for (size_t word = 0; word < words_.size(); ++word) {
    if (stretchOf_[word] != first && stretchOf_[word] != second) continue;
    start = std::min(start, words_[word].offset);
    end = std::max(end, words_[word].offset + words_[word].size);
    size = std::min(size, words_[word].size);
  }
  const uint32_t all = std::max(of.words + other.words, (end - start) / size);
  double ways = 0;  // -ln of it
  for (uint32_t k = 0; k < other.words; ++k)
    ways += std::log(static_cast<double>(all - k) / static_cast<double>(all - of.words - k));
  const double compared = std::log(std::max<double>(1, static_cast<double>(stretches_.size()) - 1));
  bool apart = ways - compared >= kApart;
  if (apart) {
    const Likeness likeness = compare({of.used, other.used, {}});
    apart = likeness.differs && likeness.evidence - compared >= kExpected;
  }
  known = apart;
  return apart;
}

void WordGroups::findDifferences() {
  const size_t count = words_.size();
  differences_.assign(count * count, {});
  struct Undecided {
    size_t a, b;
    double evidence;
  };
  std::vector<Undecided> undecided;
  double different = 0;
  // Each word is compared with all others, and one of these looks different by chance.
  const double compared = std::log(std::max<double>(1, static_cast<double>(count) - 1));
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = a + 1; b < count; ++b) {
      const Likeness likeness = compare({used_[a], used_[b], std::pair(a, b)});
      Difference& difference = differences_[a * count + b];
      if (likeness.evidence - compared >= kExpected || areApart(a, b)) {
        difference = {1, 1, 1};
        ++different;
      } else if (likeness.differs && !likeness.alikeByAll) {
        difference.high = 1;
        if (setOf_[a] != setOf_[b]) undecided.push_back({a, b, likeness.evidence});
      } else if (meet(used_[a].codes, used_[b].codes)) {
        difference.high = 1;
      }
    }
  }
  // How many pairs of the line differ, and which of the undecided ones then do, tell each other.
  double share = 0.5;
  const auto likely = [&](const Undecided& pair) {
    return share / (share + (1 - share) * std::exp(-pair.evidence));
  };
  const double pairs = static_cast<double>(count) * static_cast<double>(count - 1) / 2;
  for (int round = 0; round < kRounds && !undecided.empty(); ++round) {
    double sum = different;
    for (const Undecided& pair : undecided) sum += likely(pair);
    share = (sum + 1) / (pairs + 2);
  }
  for (const Undecided& pair : undecided)
    differences_[pair.a * count + pair.b].value = std::min(kMostUndecided, likely(pair));
  for (size_t a = 0; a < count; ++a)
    for (size_t b = a + 1; b < count; ++b) differences_[b * count + a] = differences_[a * count + b];
}

double WordGroups::usersInCommon(const Users& a, const Users& b) {
  const auto samplesOf = [](const Users& users) {
    double sum = 0;
    for (const ByUser& by : users) sum += by.reads + by.writes;
    return std::max(sum, 1.0);
  };
  const double allA = samplesOf(a), allB = samplesOf(b);
  double common = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (x->user == y->user) common += std::min((x->reads + x->writes) / allA, (y->reads + y->writes) / allB);
    const bool takesX = x->user <= y->user, takesY = y->user <= x->user;
    if (takesX) ++x;
    if (takesY) ++y;
  }
  return common;
}

void WordGroups::group() {
  const auto count = static_cast<uint32_t>(words_.size());
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return used_[a].samples > used_[b].samples; });
  std::vector<std::vector<uint32_t>> groups;
  const auto isTold = [&](uint32_t word, const std::vector<uint32_t>& from) {
    const auto isSure = [&](uint32_t member) { return words_[member].sure; };
    return std::ranges::none_of(from, isSure) || std::ranges::any_of(from, [&](uint32_t member) {
             return isSure(member) && between(word, member).low == 1;
           });
  };
  for (const uint32_t word : order) {
    // A word with few samples may fit several groups. It belongs to those that use it most, not to the group
    // with most samples.
    std::vector<uint32_t>* best = nullptr;
    double most = -1;
    for (std::vector<uint32_t>& members : groups) {
      const bool fits = std::all_of(members.begin(), members.end(),
                                    [&](uint32_t member) { return between(word, member).value < 0.5; });
      if (!fits) continue;
      const double common = usersInCommon(used_[word].actors, used_[members.front()].actors);
      if (common <= most + kSameShare) continue;
      most = common;
      best = &members;
    }
    words_[word].sure = std::ranges::all_of(groups, [&](const std::vector<uint32_t>& members) {
      return &members == best || isTold(word, members);
    });
    if (best == nullptr)
      groups.push_back({word});
    else
      best->push_back(word);
  }
  for (std::vector<uint32_t>& members : groups) std::sort(members.begin(), members.end());
  std::sort(groups.begin(), groups.end());
  for (uint32_t i = 0; i < groups.size(); ++i)
    for (const uint32_t word : groups[i]) words_[word].group = i;
}

uint32_t WordGroups::ownerOf(uint32_t word) const {
  uint32_t owner = kNobody;
  for (const ByUser& by : used_[word].actors) {
    if (by.writes == 0 && !by.knownWrites) continue;
    if (owner != kNobody) return kNobody;
    owner = by.user;
  }
  return owner;
}

}  // namespace cacheline::analysis
