// One pass over the contended accesses: each goes to the subject of most of the waiting at its word.
#include "analysis/findings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/object_sums.h"
#include "analysis/own_place.h"
#include "analysis/verdict.h"
#include "analysis/waiting.h"

namespace cacheline::analysis {

namespace {

/// Of the contended samples of the recording: advice does not speak of what has less.
constexpr double kLeastAdvised = 0.01;
/// Of a finding's contended samples: who waits less is not told of.
constexpr double kLeastWait = 0.02;
constexpr size_t kMostWaits = 16;
constexpr size_t kMostLines = 64;  // most contended ones come first
/// Of what a variable waits for: a neighbour with less is not moved with it.
constexpr double kLeastNeighbour = 0.05;

/// What a word's accesses count for.
struct Told {
  uint32_t subject = kNone;  ///< kNone: memory that is known by its name
  uint64_t base = 0;         ///< of the object
  std::string object;        ///< of memory its name, else that of the outermost object
};

/// Paths of a type's members by offset.
class MemberPaths {
 public:
  explicit MemberPaths(const TypeHeat& type) {
    for (const FieldHeat& field : type.fields) fields_.push_back(&field);
    std::ranges::stable_sort(fields_, {}, &FieldHeat::offset);
  }
  std::string at(uint64_t offset) const {
    auto field = std::ranges::upper_bound(fields_, offset, {}, &FieldHeat::offset);
    while (field != fields_.begin())
      if (const FieldHeat& each = **--field; offset < each.offset + std::max<uint64_t>(each.size, 1))
        return withoutIndices(each.field);
    return {};
  }

 private:
  std::vector<const FieldHeat*> fields_;
};

class Builder {
 public:
  Builder(const Report& report, const Subjects& subjects) : report_(report), subjects_(subjects) {}

  /// `of`: by line and access, the finding that it counts for.
  std::vector<Finding> take(std::vector<std::vector<std::optional<uint32_t>>>& of) {
    of.resize(report_.lines.size());
    for (uint32_t number = 0; number < report_.lines.size(); ++number)
      if (isContended(report_.lines[number].verdict) && report_.lines[number].contended > 0)
        addLine(number, of[number]);
    addLeftOut();
    std::vector<uint32_t> order(sums_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
      const Finding &left = sums_[a].finding, &right = sums_[b].finding;
      if (left.contended != right.contended) return left.contended > right.contended;
      return std::tie(left.type, left.object) < std::tie(right.type, right.object);
    });
    std::vector<uint32_t> place(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    std::vector<Finding> findings;
    findings.reserve(order.size());
    for (const uint32_t from : order) findings.push_back(finish(sums_[from], place));
    for (auto& line : of)
      for (std::optional<uint32_t>& finding : line)
        if (finding) finding = place[*finding];
    numberAdvice(findings);
    return findings;
  }

 private:
  struct Member {
    uint64_t contended = 0, most = 0;
    WaitsOfLines waits;
    Place place;
  };
  /// Function and place that wait, member, function and member that are waited for.
  using Pair = std::tuple<std::string, std::string, uint32_t, std::string, std::string, std::string>;
  struct Weight {
    double all = 0, falsely = 0;
  };
  struct Sum {
    Finding finding;
    RolledVerdict verdict;
    std::map<std::string, Member> members;
    std::map<Pair, Weight> waits;
    std::map<uint32_t, double> beside;  ///< by sum: false waiting for other subjects' variables
    std::set<std::pair<std::string, uint64_t>> objects;
    uint32_t lastLine = kNone;
  };

  uint32_t sumOf(const Told& told) {
    const auto [known, isNew] = index_.try_emplace({told.subject, told.subject == kNone ? told.object : ""},
                                                   static_cast<uint32_t>(sums_.size()));
    if (!isNew) return known->second;
    Finding& finding = sums_.emplace_back().finding;
    finding.object = told.object;
    finding.subject = told.subject;
    if (told.subject == kNone) return known->second;
    const Subject& subject = subjects_.list()[told.subject];
    finding.type = subject.type;
    finding.definition = subject.definition;
    finding.allocation = subject.allocation;
    switch (subject.kind) {
      case Subject::Kind::type:
        finding.kind = Finding::Kind::type;
        break;
      case Subject::Kind::elements:
        finding.kind = Finding::Kind::array;
        break;
      case Subject::Kind::variable:
        finding.kind = Finding::Kind::variable;
        break;
      case Subject::Kind::block:
        finding.kind = Finding::Kind::block;
        break;
    }
    return known->second;
  }

  static std::string objectOf(const Subject& subject) {
    if (!subject.object.empty()) return subject.object;
    return subject.variables.size() == 1 ? subject.variables.begin()->first : "";
  }

  std::string pathAt(uint32_t subject, uint64_t offset) {
    const TypeHeat* described = subject == kNone ? nullptr : subjects_.list()[subject].described;
    if (described == nullptr) return {};
    return paths_.try_emplace(subject, *described).first->second.at(offset);
  }

  /// The words of a line: what each counts for, and how it is called there.
  struct LineWords {
    std::vector<std::vector<Holder>> holders;
    std::vector<Told> told;
    std::vector<uint32_t> sums;
    std::vector<std::string> members;
  };

  Told memory(const Line& line, uint32_t offset) const {
    for (const Access& access : line.accesses)
      if (access.offset <= offset && offset < access.offset + std::max(access.width, 1u))
        return {kNone, 0, objectName(access.data)};
    return {kNone, 0, line.mapping};
  }

  Told told(const Holder& holder, const std::vector<Holder>& at) const {
    const std::string own = objectOf(subjects_.list()[holder.subject]);
    return {holder.subject, holder.base, own.empty() ? objectOf(subjects_.list()[at.front().subject]) : own};
  }

  LineWords wordsOf(uint32_t number) {
    const Line& line = report_.lines[number];
    LineWords words;
    for (const LineWord& word : line.words)
      words.holders.push_back(subjects_.at(number, line.address + word.offset));
    for (uint32_t word = 0; word < line.words.size(); ++word) {
      const std::vector<Holder>& at = words.holders[word];
      if (at.empty()) {
        words.told.push_back(memory(line, line.words[word].offset));
      } else {
        std::map<const Holder*, double> weights;
        for (const WaitCause& cause : line.causes)
          if (cause.word == word)
            weights[&subjects_.toldOf(at, words.holders[cause.cause], cause.word == cause.cause).holder] +=
                cause.share;
        const Holder* most = &subjects_.toldOf(at, at, true).holder;
        double weight = 0;
        for (const Holder& holder : at)  // of equal ones the outermost
          if (const auto found = weights.find(&holder); found != weights.end() && found->second > weight)
            most = &holder, weight = found->second;
        words.told.push_back(told(*most, at));
      }
      const Told& here = words.told.back();
      words.sums.push_back(sumOf(here));
      words.members.push_back(pathAt(here.subject, line.address + line.words[word].offset - here.base));
    }
    return words;
  }

  void addLine(uint32_t number, std::vector<std::optional<uint32_t>>& of) {
    const Line& line = report_.lines[number];
    LineWords words = wordsOf(number);
    of.resize(line.accesses.size());
    for (size_t i = 0; i < line.accesses.size(); ++i) {
      const Access& access = line.accesses[i];
      if (access.contended == 0) continue;
      Told here;
      if (access.word) {
        here = words.told[*access.word];
      } else {
        const std::vector<Holder> at = subjects_.at(number, line.address + access.offset);
        here = at.empty() ? memory(line, access.offset) : told(subjects_.toldOf(at, at, true).holder, at);
      }
      const uint32_t index = sumOf(here);
      of[i] = index;
      Sum& sum = sums_[index];
      sum.verdict.add(line, number + 1, access);
      sum.finding.contended += access.contended;
      if (here.subject != kNone) sum.objects.emplace(line.space, here.base);
      if (sum.lastLine != number) {
        sum.lastLine = number;
        if (sum.finding.lineCount++ < kMostLines) sum.finding.lines.push_back(line.address);
      }
      Member& member = sum.members[pathAt(here.subject, line.address + access.offset - here.base)];
      member.contended += access.contended;
      member.waits.add(number + 1, access.waits);
      if (access.contended > member.most) {
        member.most = access.contended;
        member.place = placeOf(access);
      }
    }
    for (const WaitCause& cause : line.causes) addCause(line, cause, words);
    countListed(number);
  }

  static Place placeOf(const Access& access) {
    const OwnCode place = ownCode(*access.code);
    return {*place.file, place.line};
  }

  /// What is waited for at a word: most of its writes, where those who wait only read.
  static const Access* causeAt(const Line& line, uint32_t word, bool writes) {
    const Access* most = nullptr;
    const auto weight = [&](const Access& access) {
      return std::pair(writes ? access.stores : 0, access.records);
    };
    for (const Access& access : line.accesses)
      if (access.word == word && (most == nullptr || weight(access) > weight(*most))) most = &access;
    return most;
  }

  void addCause(const Line& line, const WaitCause& cause, const LineWords& words) {
    const std::vector<Holder>&at = words.holders[cause.word], &by = words.holders[cause.cause];
    const uint32_t index = words.sums[cause.word], other = words.sums[cause.cause];
    Sum& sum = sums_[index];
    const double waiting = cause.share * static_cast<double>(line.contended);
    if (!at.empty() && !by.empty() && other != index &&
        subjects_.toldOf(at, by, false).relation == Relation::elsewhere)
      sum.beside[other] += waiting * cause.falsely * (1 - cause.sameStep);
    uint64_t contended = 0;
    for (const Access& access : line.accesses)
      if (access.word == cause.word) contended += access.contended;
    const std::string causeMember =
        index == other ? words.members[cause.cause] : nameOf(other, words.members[cause.cause]);
    for (const Access& access : line.accesses) {
      if (access.word != cause.word || access.contended == 0) continue;
      const Access* by_ = causeAt(line, cause.cause, access.stores == 0);
      const OwnCode told = ownCode(*access.code);
      Weight& weight = sum.waits[{*told.function, *told.file, told.line, words.members[cause.word],
                                  by_ == nullptr ? "" : *ownCode(*by_->code).function, causeMember}];
      const double part = waiting * static_cast<double>(access.contended) /
                          static_cast<double>(std::max<uint64_t>(contended, 1));
      weight.all += part;
      weight.falsely += part * cause.falsely;
    }
  }

  /// Of another subject: with its name before it.
  std::string nameOf(uint32_t sum, const std::string& member) const {
    const Finding& finding = sums_[sum].finding;
    const std::string& name = finding.object.empty() ? finding.type : finding.object;
    return member.empty() ? name : name + '.' + member;
  }

  /// What the listed lines know of sums over all lines.
  void countListed(uint32_t number) {
    if (!report_.contendedLeftOut) return;
    const Line& line = report_.lines[number];
    for (const Access& access : line.accesses) {
      const std::vector<Holder> at = subjects_.at(number, line.address + access.offset);
      if (!at.empty() && subjects_.list()[at.front().subject].kind == Subject::Kind::type)
        listed_[subjects_.list()[at.front().subject].described] += access.contended;
      else
        listedNames_[objectName(access.data)] += access.contended;
    }
  }

  void addRest(const Told& told, const std::optional<FalseShare>& share, uint64_t contended, uint64_t lines) {
    Sum& sum = sums_[sumOf(told)];
    sum.finding.contended += contended;
    sum.finding.lineCount = std::max(sum.finding.lineCount, lines);
    const auto waiting = static_cast<double>(contended);
    const FalseShare known = share.value_or(FalseShare{});
    WaitSum rest{.waiting = waiting, .low = known.low * waiting, .high = known.high * waiting};
    if (known.value) {
      rest.known = waiting;
      rest.falsely = *known.value * waiting;
    }
    sum.verdict.addRest(rest);
  }

  void addLeftOut() {
    if (!report_.contendedLeftOut || report_.selected) return;
    for (uint32_t number = 0; number < subjects_.list().size(); ++number) {
      const Subject& subject = subjects_.list()[number];
      if (subject.described == nullptr || subject.described->nested || subject.opaque) continue;
      const uint64_t all = subject.described->contended, listed = listed_[subject.described];
      if (all > listed)
        addRest({number, 0, objectOf(subject)}, subject.described->falseShare, all - listed,
                subject.described->lines);
    }
    std::map<std::string, std::pair<uint64_t, const ObjectSum*>> names;
    for (const ObjectSum& object : report_.objects) {
      auto& [contended, first] = names[object.object];
      contended += object.contended;
      if (first == nullptr) first = &object;
    }
    for (const auto& [name, listed] : listedNames_) {
      const auto found = names.find(name);
      if (found == names.end() || found->second.first <= listed) continue;
      const auto same = std::ranges::find_if(sums_, [&, &name = name](const Sum& sum) {
        return sum.finding.kind != Finding::Kind::type && sum.finding.object == name;
      });
      if (same != sums_.end())
        addRest({same->finding.subject, 0, name}, found->second.second->falseShare,
                found->second.first - listed, found->second.second->lines);
    }
  }

  Finding finish(Sum& sum, const std::vector<uint32_t>& place) const {
    Finding& finding = sum.finding;
    finding.verdict = sum.verdict.verdict();
    finding.falseShare = sum.verdict.falseShare();
    finding.flags = sum.verdict.takeFlags();
    finding.objects = sum.objects.size();
    const auto contended = static_cast<double>(std::max<uint64_t>(finding.contended, 1));
    finding.programShare =
        report_.samples == 0 ? 0
                             : static_cast<double>(finding.contended) / static_cast<double>(report_.samples);
    for (const auto& [name, member] : sum.members)
      finding.members.push_back({name, member.contended, member.waits.sum().share(), member.place});
    std::ranges::stable_sort(finding.members, std::greater<>(), &FindingMember::contended);
    for (const auto& [pair, weight] : sum.waits) {
      if (weight.all < kLeastWait * contended) continue;
      const auto& [function, file, line, member, causeFunction, causeMember] = pair;
      finding.waits.push_back({.function = function,
                               .member = member,
                               .place = {file, line},
                               .causeFunction = causeFunction,
                               .causeMember = causeMember,
                               .falsely = 2 * weight.falsely > weight.all,
                               .share = std::min(1.0, weight.all / contended)});
    }
    std::ranges::stable_sort(finding.waits, std::greater<>(), &FindingWait::share);
    if (finding.waits.size() > kMostWaits) finding.waits.resize(kMostWaits);
    for (const auto& [other, waiting] : sum.beside)
      if (waiting >= kLeastNeighbour * contended) finding.neighbours.push_back(place[other]);
    std::ranges::sort(finding.neighbours);
    return std::move(finding);
  }

  /// An advice speaks of a finding, and of the variables beside it that it waits for.
  void numberAdvice(std::vector<Finding>& findings) const {
    const double least = std::max(kFewestSamples, kLeastAdvised * static_cast<double>(report_.contended));
    const auto isVariable = [&](const Finding& finding) {
      return finding.subject != kNone && !subjects_.list()[finding.subject].unaligned &&
             !subjects_.list()[finding.subject].variables.empty();
    };
    uint32_t next = 0;
    for (Finding& finding : findings) {
      if (finding.advice || finding.subject == kNone || static_cast<double>(finding.contended) < least)
        continue;
      finding.advice = next++;
      if (!isVariable(finding)) continue;
      for (const uint32_t other : finding.neighbours)
        if (!findings[other].advice && isVariable(findings[other])) findings[other].advice = finding.advice;
    }
  }

  const Report& report_;
  const Subjects& subjects_;
  std::map<std::pair<uint32_t, std::string>, uint32_t> index_;  ///< of sums, by subject or name
  std::vector<Sum> sums_;
  std::map<uint32_t, MemberPaths> paths_;
  std::map<const TypeHeat*, uint64_t> listed_;
  std::map<std::string, uint64_t> listedNames_;
};

}  // namespace

const char* findingKindName(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::type:
      return "type";
    case Finding::Kind::array:
      return "array";
    case Finding::Kind::variable:
      return "variable";
    case Finding::Kind::block:
      return "block";
    case Finding::Kind::memory:
      break;
  }
  return "memory";
}

bool cannotTell(const Finding& finding) {
  const std::optional<FalseShare>& share = finding.falseShare;
  return share && (!share->value || (share->low <= kTrue && share->high >= kFalse));
}

std::vector<Finding> findingsOf(const Report& report, const Subjects& subjects) {
  std::vector<std::vector<std::optional<uint32_t>>> of;
  return Builder(report, subjects).take(of);
}

void addFindings(Report& report) {
  std::vector<std::vector<std::optional<uint32_t>>> of;
  report.findings = Builder(report, Subjects(report)).take(of);
  for (size_t line = 0; line < of.size(); ++line)
    for (size_t i = 0; i < of[line].size(); ++i) report.lines[line].accesses[i].finding = of[line][i];
}

}  // namespace cacheline::analysis
