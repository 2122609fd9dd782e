// The room of what has no size of its own is found from the end of the type on.
#include "types/member_order.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace cacheline::types {
namespace {

/// A bit-field's storage unit may begin before it.
uint64_t firstByte(const Member& member) {
  return member.offset + member.bitOffset / 8;
}

/// Members by their offsets get what lies behind them up to the next one.
void giveRoom(Type& type) {
  // Behind the last one virtual bases may lie.
  const uint64_t end = type.virtualBases.empty() ? type.size.value_or(0) : 0;
  struct Begin {
    uint64_t at, next;   ///< of the members that begin last of what was seen, and of those behind them
    bool known = false;  ///< a member with a size begins there: another one has no bytes
  };
  // Those of one variant of a Rust enum lie behind each other, and among those that are always there.
  std::unordered_map<std::string_view, Begin> begins{{"", {end, end}}};
  for (size_t i = type.members.size(), from = i; i > 0; i = from) {
    const uint64_t first = firstByte(type.members[i - 1]);
    while (from > 0 && firstByte(type.members[from - 1]) == first) from--;
    for (size_t at = from; at < i; at++) {
      const Member& member = type.members[at];
      if (!member.located) continue;
      Begin& begin = begins.try_emplace(member.variant, Begin{end, end}).first->second;
      if (first != begin.at) begin = {first, begin.at};
      begin.known |= member.size > 1 && !member.incomplete;
    }
    for (size_t at = from; at < i; at++) {
      Member& member = type.members[at];
      if (!member.located || !member.incomplete) continue;
      const Begin &own = begins.at(member.variant), &common = begins.at("");
      const uint64_t behind = std::min(own.next, common.at > first ? common.at : common.next);
      if (type.kind == Kind::unionType)
        member.size = end;
      else if (!own.known && behind > first)
        member.size = behind - first;
    }
  }
}

}  // namespace

void sortMembers(Type& type) {
  const auto bit = [](const Member& member) { return member.offset * 8 + member.bitOffset; };
  std::stable_sort(type.members.begin(), type.members.end(),
                   [&](const Member& a, const Member& b) { return bit(a) < bit(b); });
  if (std::any_of(type.members.begin(), type.members.end(),
                  [](const Member& member) { return member.incomplete; }))
    giveRoom(type);
}

}  // namespace cacheline::types
