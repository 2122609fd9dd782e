// Groups by what whole objects wait for, as if each were one line.
#include "advice/member_groups.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>

#include "advice/objects.h"

namespace cacheline::advice {

namespace {

using layouts::LayoutMember;

/// Bytes that a member's address is a multiple of. Debug information tells it only where the source asks for
/// more than the type does: of the others, what their offset and their size allow, at most 16.
uint64_t alignmentOf(const LayoutMember& member) {
  if (member.alignment > 0) return member.alignment;
  uint64_t alignment = 16;
  while (alignment > 1 && (member.offset % alignment != 0 || member.size % alignment != 0)) alignment /= 2;
  return alignment;
}

bool isMovable(const LayoutMember& member) {
  return member.role == types::Member::Role::field;
}

class Sets {
 public:
  explicit Sets(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  uint32_t find(uint32_t of) {
    while (parent_[of] != of) of = parent_[of] = parent_[parent_[of]];
    return of;
  }
  void unite(uint32_t a, uint32_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<uint32_t> parent_;
};

/// Whether two members are used alike, by the lines of a type's objects.
struct Relation {
  double together = 0, apart = 0;              ///< contended samples, of lines whose samples suffice to tell
  uint32_t maybeTogether = 0, maybeApart = 0;  ///< other lines

  /// Empty: as likely by chance. Of lines that do not suffice alone, so many say the same that chance does
  /// it at most once in 20 times: a sign test.
  std::optional<bool> areTogether() const {
    if (together + apart > 0) return together > apart;
    const uint32_t all = maybeTogether + maybeApart, most = std::max(maybeTogether, maybeApart);
    if (all == 0 || chanceOfAtLeast(most, all) > kByChance) return std::nullopt;
    return maybeTogether > maybeApart;
  }

 private:
  static constexpr double kByChance = 0.05;
  /// Of `all` coins thrown, `most` or more show heads, or as many tails.
  static double chanceOfAtLeast(uint32_t most, uint32_t all) {
    double tail = 0;
    for (uint32_t k = most; k <= all; ++k)
      tail += std::exp(std::lgamma(all + 1.0) - std::lgamma(k + 1.0) - std::lgamma(all - k + 1.0) -
                       all * std::numbers::ln2);
    return 2 * tail;
  }
};

}  // namespace

uint64_t MemberLayout::movedTo(const analysis::TypeHeat& type, uint64_t offset) const {
  for (const PlacedMember& placed : order) {
    const LayoutMember& member = type.own[placed.member];
    if (offset >= member.offset && offset - member.offset < std::max<uint64_t>(member.size, 1))
      return placed.offset + (offset - member.offset);
  }
  return offset;  // a hole
}

MemberGroups groupMembers(const analysis::Report& report, const analysis::Subjects& subjects,
                          uint32_t subject, const Replay& replay) {
  const analysis::Subject& of = subjects.list()[subject];
  const std::vector<LayoutMember>& members = of.described->own;
  MemberGroups result;
  // One object is one line here.
  const SharedObjects objects(report, subjects, subject);
  const auto size = static_cast<uint32_t>(std::bit_ceil(std::max<uint64_t>(of.size, 64)));
  const Replayed whole = replay(objects.lines(), objects.alone(0), size);

  std::map<std::pair<uint32_t, uint32_t>, Relation> relations;
  std::vector<double> contended(members.size()), seen(members.size());
  // Told: by enough samples, and not only maybe.
  std::vector<bool> written(members.size()), told(members.size()), maybe(members.size());
  const auto memberAt = [&](uint64_t offset) {
    for (uint32_t i = 0; i < members.size(); ++i)
      if (offset >= members[i].offset && offset - members[i].offset < members[i].size) return i;
    return analysis::kNone;
  };
  for (const ReplayedLine& line : whole.lines) {
    for (const analysis::PlaceSample& sample : line.accesses.samples)
      if (const uint32_t member = memberAt(line.accesses.uses[sample.use].offset);
          member != analysis::kNone) {
        seen[member] += sample.weight;
        if (line.accesses.uses[sample.use].writes && line.verdict.judgement.competing) written[member] = true;
      }
    if (!line.verdict.waiting) continue;
    const analysis::Waiting& waiting = *line.verdict.waiting;
    std::vector<uint32_t> memberOf;
    for (const analysis::LineWord& word : waiting.words) memberOf.push_back(memberAt(word.offset));
    std::vector<double> weight(waiting.words.size());
    for (size_t use = 0; use < waiting.contended.size(); ++use)
      weight[waiting.wordOf[use]] += waiting.contended[use];
    for (size_t a = 0; a < waiting.words.size(); ++a) {
      if (memberOf[a] == analysis::kNone) continue;
      contended[memberOf[a]] += weight[a];
      (waiting.words[a].sure ? told : maybe)[memberOf[a]] = true;
      for (size_t b = a + 1; b < waiting.words.size(); ++b) {
        if (memberOf[b] == analysis::kNone) continue;
        Relation& relation = relations[std::minmax(memberOf[a], memberOf[b])];
        const bool alike = waiting.words[a].group == waiting.words[b].group;
        if (waiting.words[a].sure && waiting.words[b].sure)
          (alike ? relation.together : relation.apart) += std::max(1.0, weight[a] + weight[b]);
        else
          ++(alike ? relation.maybeTogether : relation.maybeApart);
      }
    }
  }

  Sets sets(members.size());
  for (const auto& [pair, relation] : relations) {
    const std::optional<bool> together = relation.areTogether();
    if (!together) continue;
    told[pair.first] = told[pair.second] = true;
    if (pair.first == pair.second) {
      if (!*together) result.divided.push_back(pair.first);
    } else if (*together) {
      sets.unite(pair.first, pair.second);
    }
  }
  // A member of few samples belongs to whom chance says: it goes by the code or by its place, as if it had
  // none.
  for (uint32_t i = 0; i < members.size(); ++i)
    if (maybe[i] && !told[i]) seen[i] = 0;
  // Bit-fields of one storage unit, and members of one union, move together.
  for (uint32_t i = 1; i < members.size(); ++i) {
    const LayoutMember &a = members[i - 1], &b = members[i];
    const bool bits = a.bitSize > 0 && b.bitSize > 0;
    if (bits || b.offset < a.offset + a.size) {
      sets.unite(i - 1, i);
      seen[i] = seen[i - 1] = std::max(seen[i], seen[i - 1]);
    }
  }
  // What was not sampled itself belongs to what the code that accesses it was sampled at.
  std::map<uint32_t, std::map<uint32_t, double>> steps;  // by member: samples of other members
  for (const ReplayedLine& line : whole.lines) {
    std::vector<double> samples(line.accesses.uses.size());
    for (const analysis::PlaceSample& sample : line.accesses.samples) samples[sample.use] += sample.weight;
    for (const analysis::StepUse& step : line.accesses.steps) {
      const uint32_t member = memberAt(step.offset), by = memberAt(line.accesses.uses[step.use].offset);
      if (member != analysis::kNone && by != analysis::kNone && seen[member] <= 0 && seen[by] > 0)
        steps[member][by] += samples[step.use];
    }
  }
  for (const auto& [member, others] : steps) {
    const auto user = std::max_element(others.begin(), others.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (user->second <= 0) continue;
    sets.unite(member, user->first);
    seen[member] = user->second;
  }
  std::map<uint32_t, MemberGroups::Group> groups;
  MemberGroups::Group onlyRead;
  for (uint32_t i = 0; i < members.size(); ++i) {
    if (seen[i] <= 0) continue;
    MemberGroups::Group& group = groups[sets.find(i)];
    group.members.push_back(i);
    group.contended += contended[i];
    group.written |= written[i];
  }
  for (auto& [set, group] : groups) {
    if (group.written) {
      result.groups.push_back(std::move(group));
      continue;
    }
    onlyRead.members.insert(onlyRead.members.end(), group.members.begin(), group.members.end());
    onlyRead.contended += group.contended;
  }
  std::stable_sort(result.groups.begin(), result.groups.end(),
                   [](const auto& a, const auto& b) { return a.contended > b.contended; });
  std::sort(onlyRead.members.begin(), onlyRead.members.end());
  if (!onlyRead.members.empty()) result.groups.push_back(std::move(onlyRead));
  return result;
}

MemberLayout layOut(const analysis::TypeHeat& type, const MemberGroups& groups, uint32_t lineSize) {
  const std::vector<LayoutMember>& members = type.own;
  std::vector<uint32_t> groupOf(members.size(), analysis::kNone);
  for (uint32_t group = 0; group < groups.groups.size(); ++group)
    for (const uint32_t member : groups.groups[group].members) groupOf[member] = group;
  // What was never seen goes with what is before it, in front with what comes first.
  const auto first = std::ranges::find_if(groupOf, [](uint32_t group) { return group != analysis::kNone; });
  uint32_t last = first == groupOf.end() ? analysis::kNone : *first;
  for (uint32_t& group : groupOf) last = group = group == analysis::kNone ? last : group;

  const auto place = [&](const std::vector<uint32_t>& order) {
    MemberLayout layout;
    uint64_t at = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const LayoutMember& member = members[order[i]];
      const bool starts = i > 0 && groupOf[order[i]] != groupOf[order[i - 1]] && isMovable(member);
      const bool shares =
          i > 0 && !starts && member.offset < members[order[i - 1]].offset + members[order[i - 1]].size;
      if (shares)  // of a union, or bits of one unit
        at = layout.order.back().offset + (member.offset - members[order[i - 1]].offset);
      else
        at = analysis::roundUp(at, starts ? lineSize : alignmentOf(member));
      layout.order.push_back({order[i], starts, at});
      at += member.size;
      layout.size = std::max(layout.size, at);
    }
    const bool aligned = std::ranges::any_of(layout.order, &PlacedMember::startsLine);
    layout.size = analysis::roundUp(layout.size, aligned ? lineSize : type.layout.align.value_or(8));
    return layout;
  };
  std::vector<uint32_t> order(members.size());
  std::iota(order.begin(), order.end(), 0);
  MemberLayout asDeclared = place(order);
  // What is only read stays in front, in its order; what cannot move is in front anyway.
  std::ranges::stable_sort(order, {}, [&](uint32_t member) {
    const bool inFront = !isMovable(members[member]) || groupOf[member] == analysis::kNone ||
                         !groups.groups[groupOf[member]].written;
    return inFront ? 0 : groupOf[member] + 1;
  });
  MemberLayout sorted = place(order);
  if (asDeclared.size <= sorted.size) return asDeclared;
  sorted.reordered = true;
  return sorted;
}

uint64_t MemberSplit::size() const {
  return std::accumulate(sizes.begin(), sizes.end(), uint64_t{0});
}

std::optional<MemberSplit> splitOff(const analysis::TypeHeat& type, const MemberGroups& groups) {
  const std::vector<LayoutMember>& members = type.own;
  MemberSplit split{.members = std::vector<SplitMember>(members.size()), .sizes = {0}};
  for (const MemberGroups::Group& group : groups.groups) {
    if (!group.written) continue;
    for (const uint32_t member : group.members) {
      if (!isMovable(members[member])) return std::nullopt;
      split.members[member].part = static_cast<uint32_t>(split.sizes.size());
    }
    split.sizes.push_back(0);
  }
  std::vector<uint64_t> alignments(split.sizes.size(), 1);
  for (size_t i = 0; i < members.size(); ++i) {
    const LayoutMember& member = members[i];
    const uint32_t part = split.members[i].part;
    uint64_t& end = split.sizes[part];
    const bool shares = i > 0 && part == split.members[i - 1].part &&
                        member.offset < members[i - 1].offset + members[i - 1].size;
    split.members[i].offset = shares  // of a union, or bits of one unit
                                  ? split.members[i - 1].offset + (member.offset - members[i - 1].offset)
                                  : analysis::roundUp(end, alignmentOf(member));
    end = std::max(end, split.members[i].offset + member.size);
    alignments[part] = std::max(alignments[part], alignmentOf(member));
  }
  if (split.sizes[0] == 0 || split.sizes.size() == 1) return std::nullopt;
  for (size_t part = 0; part < split.sizes.size(); ++part)
    split.sizes[part] = analysis::roundUp(split.sizes[part], alignments[part]);
  return split;
}

}  // namespace cacheline::advice
