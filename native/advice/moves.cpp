// Where each address would be.
#include "advice/moves.h"

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace cacheline::advice {

Move stays() {
  return [](uint32_t line, uint64_t address) { return std::optional(Moved{line, address}); };
}

Move Moves::apart(uint32_t subject, std::function<uint64_t(uint64_t)> placed) const {
  // Objects get spaces of their own; one that reaches over two lines is one object.
  auto spaces = std::make_shared<std::map<std::pair<std::string, uint64_t>, uint32_t>>();
  return [this, subject, spaces, placed = std::move(placed)](uint32_t line,
                                                             uint64_t address) -> std::optional<Moved> {
    for (const analysis::Holder& holder : subjects_.at(line, address)) {
      if (holder.subject != subject) continue;
      const auto next = freshSpace() + static_cast<uint32_t>(spaces->size());
      const uint32_t space =
          spaces->try_emplace({report_.lines[line].space, holder.base}, next).first->second;
      return Moved{space, placed(address - holder.base)};
    }
    return Moved{line, address};
  };
}

Move Moves::spread(uint32_t subject, uint64_t size) const {
  return [this, subject, size](uint32_t line, uint64_t address) -> std::optional<Moved> {
    const std::vector<analysis::Holder> holders = subjects_.at(line, address);
    if (holders.empty() || holders.front().subject != subject) return Moved{line, address};
    const analysis::Holder& holder = holders.front();
    const uint64_t index = (holder.base - holder.first) / subjects_.list()[subject].size;
    // Other data around it is not known to be near.
    return Moved{freshSpace(), holder.first + index * size + (address - holder.base)};
  };
}

Move Moves::split(uint32_t subject, const MemberSplit& split) const {
  using Array = std::tuple<std::string, uint64_t, uint32_t>;  // its space, where it begins, which part
  auto spaces = std::make_shared<std::map<Array, uint32_t>>();
  return [this, subject, spaces, split](uint32_t line, uint64_t address) -> std::optional<Moved> {
    const std::vector<analysis::Holder> holders = subjects_.at(line, address);
    if (holders.empty() || holders.front().subject != subject) return Moved{line, address};
    const analysis::Holder& holder = holders.front();
    if (holder.member == analysis::kNone) return std::nullopt;  // a hole
    const analysis::Subject& of = subjects_.list()[subject];
    const SplitMember& member = split.members[holder.member];
    const auto next = freshSpace() + static_cast<uint32_t>(spaces->size());
    const uint32_t space =
        spaces->try_emplace({report_.lines[line].space, holder.first, member.part}, next).first->second;
    const uint64_t index = (holder.base - holder.first) / of.size;
    const uint64_t inside = address - holder.base - of.described->own[holder.member].offset;
    return Moved{space, index * split.sizes[member.part] + member.offset + inside};
  };
}

Move Moves::neighbours(std::set<uint32_t> together) const {
  return [this, together = std::move(together)](uint32_t line, uint64_t address) -> std::optional<Moved> {
    const std::vector<analysis::Holder> holders = subjects_.at(line, address);
    if (holders.empty() || !together.contains(holders.front().subject)) return Moved{line, address};
    // Behind all lines, one space for each subject.
    return Moved{freshSpace() + holders.front().subject, address - holders.front().base % report_.lineSize};
  };
}

}  // namespace cacheline::advice
