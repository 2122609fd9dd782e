// Layouts as moves of recorded addresses, for a replay.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "advice/member_groups.h"
#include "advice/replay.h"
#include "analysis/subjects.h"

namespace cacheline::advice {

/// Each address where it is.
Move stays();

class Moves {
 public:
  /// References are kept, by the moves too.
  Moves(const analysis::Report& report, const analysis::Subjects& subjects)
      : report_(report), subjects_(subjects) {}

  /// Every object of a subject on lines of its own, its bytes at `placed(offset)`.
  Move apart(uint32_t subject, std::function<uint64_t(uint64_t)> placed) const;
  /// Every object of a subject that is an element of an array at a multiple of `size`, in an array that
  /// begins where it does now.
  Move spread(uint32_t subject, uint64_t size) const;
  /// Every object of a subject in parts: those of all objects of an array lie side by side, each in an array
  /// of its own that begins a line.
  Move split(uint32_t subject, const MemberSplit& split) const;
  /// The objects of these subjects, each subject in a space of its own, the distances of its objects in whole
  /// lines.
  Move neighbours(std::set<uint32_t> together) const;

 private:
  uint32_t freshSpace() const { return static_cast<uint32_t>(report_.lines.size()); }

  const analysis::Report& report_;
  const analysis::Subjects& subjects_;
};

}  // namespace cacheline::advice
