// Which members of a type are used alike, over all objects of it, and how they would lie on cache lines of
// their own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "advice/replay.h"
#include "analysis/subjects.h"

namespace cacheline::advice {

/// A member's place in a new layout.
struct PlacedMember {
  uint32_t member = 0;      ///< of TypeHeat::own
  bool startsLine = false;  ///< it begins a cache line
  uint64_t offset = 0;      ///< bytes; the new one
};

struct MemberLayout {
  std::vector<PlacedMember> order;  ///< all members, as they would be declared
  bool reordered = false;           ///< in another order than now
  uint64_t size = 0;                ///< bytes of an object
  uint64_t movedTo(const analysis::TypeHeat& type, uint64_t offset) const;
};

/// Groups of members that are used alike: of each, ascending indices of TypeHeat::own; the written ones
/// first, most contended first, and behind them one of those that are only read. Members without samples are
/// in none.
struct MemberGroups {
  struct Group {
    std::vector<uint32_t> members;
    double contended = 0;  ///< samples
    bool written = false;
  };
  std::vector<Group> groups;
  /// Members whose own bytes are used differently: no order of members helps there.
  std::vector<uint32_t> divided;
};

/// A member's place in a structure that was taken apart.
struct SplitMember {
  uint32_t part = 0;
  uint64_t offset = 0;  ///< bytes, in its part
};

/// A structure in parts: what stays, and each written group in a structure of its own.
struct MemberSplit {
  std::vector<SplitMember> members;  ///< by TypeHeat::own
  std::vector<uint64_t> sizes;       ///< bytes of an object's part; part 0 stays
  uint64_t size() const;             ///< bytes of an object, all parts
};

/// Of objects of the type that were touched by competing threads. `lineSize`: bytes.
MemberGroups groupMembers(const analysis::Report& report, const analysis::Subjects& subjects,
                          uint32_t subject, const Replay& replay);

/// Each written group on lines of its own, what is only read on others, and what was never seen with the
/// member before it. The order changes only where that makes the object smaller.
MemberLayout layOut(const analysis::TypeHeat& type, const MemberGroups& groups, uint32_t lineSize);

/// Empty: nothing would stay, or what cannot move is written.
std::optional<MemberSplit> splitOff(const analysis::TypeHeat& type, const MemberGroups& groups);

}  // namespace cacheline::advice
